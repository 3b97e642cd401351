import Dispatch
import Foundation
import PusherTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SwiftTestingAppTests {
    @Test func `The harness's server serves a client that the app makes itself`() async throws {
        try await withTestHarness { harness in
            let inbox = Inbox()
            let feed = OrderFeed(harness.pusherEnvironment(), onOrder: inbox.add)
            #expect(feed.orders.subscribed)
            harness.server.publish(channel: "private-orders", event: "placed", data: "7")
            try await harness.eventually("the order is known") { inbox.all == ["7"] }
            #expect(harness.timeline.entries.contains { $0.kind == "server" && $0.text.contains("app-key") })
        }
    }

    @Test func `The harness's server refuses a key that none of its apps has`() throws {
        try withTestHarness(apps: [ServerApp(id: "7", key: "another", secret: "secret")]) { harness in
            let feed = OrderFeed(harness.pusherEnvironment()) { _ in }
            #expect("\(feed.orders)".hasSuffix("that its app lives in (code 4001)"))
        }
    }

    @Test func `A URLSession's delayed response comes when virtual time reaches it`() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /late", .ok.delayed(by: .seconds(30)))
            let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
            let url = try #require(URL(string: "https://api.example.com/late"))
            for _ in 1...200 {
                async let response = urlSession.data(from: url)
                try await harness.session.nextRequest("GET /late")
                harness.scheduler.advance(by: .seconds(30))
                _ = try await response
            }
        }
    }

    @Test func `The error of a request without a stub names its method and URL`() throws {
        try withKnownIssue {
            try withTestHarness { harness in
                let url = try #require(URL(string: "https://api.example.com/late"))
                harness.session.dataTask(with: URLRequest(url: url)) { _, _, error in
                    #expect(error?.localizedDescription == "nothing answers GET https://api.example.com/late: nothing is stubbed")
                }.resume()
            }
        } matching: {
            $0.error is TestFailure
        }
    }

    @Test func `The result of withTestHarness need not be used`() throws {
        try withTestHarness { $0.scheduler.runNextTimer() }
    }

    @Test func `A signer answers the app's own handler, and the app's lines are in the log`() async throws {
        try await withTestHarness { harness in
            let signer = Signer()
            signer.refuse(503)
            let desk = OrderDesk(harness.pusherEnvironment(), logger: harness.makeLogger("desk")) {
                try await signer.authorize(socketID: $0, channelName: $1)
            }
            try await harness.eventually("the orders are subscribed") { desk.orders.subscribed }
            #expect(signer.requests.map(\.channelName) == ["private-orders", "private-orders"])
            // The client's lines are there, too.
            let asking = harness.logEvents(atLeast: .info).filter { "\($0.message)" == "asks to be let in" }
            #expect(asking.map(\.metadata) == [["channel": "private-orders"], ["channel": "private-orders"]])
        }
    }

    @Test func `An event's data is compared as JSON, whatever the order of its members`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("orders")
            pusher.connect()
            harness.server.publish(channel: "orders", event: "placed", data: #"{"id": 7, "by": {"name": "ann"}}"#)
            #expect(recorder.notifications.last == .event("placed", channel: "orders", data: #"{"by":{"name":"ann"},"id":7}"#))
            guard case .event(_, _, let data, _)? = recorder.notifications.last else { return }
            #expect(differencesInJSON(data, from: #"{"by": {"name": "bob"}}"#) == ["data.by.name is \"ann\", not \"bob\""])
        }
    }

    @Test func `A repeating timer runs on the app's queue until it is canceled`() {
        let queue = DispatchQueue(label: "polls")
        let scheduler = TestScheduler(on: queue)
        let inbox = Inbox()
        let poll = scheduler.schedule(every: .seconds(5), label: "poll") {
            dispatchPrecondition(condition: .onQueue(queue))
            inbox.add("polled")
        }
        scheduler.advance(by: .seconds(11))
        poll.cancel()
        scheduler.advance(by: .seconds(10))
        #expect(inbox.all == ["polled", "polled"])
    }

    @Test func `A local server's delayed response comes when virtual time reaches it`() async throws {
        try await withTestHarness { harness in
            let statuses = try await Journey.lateResponses(100, harness)
            #expect(statuses == Array(repeating: 200, count: 100))
        }
    }

    @Test func `A script's delayed event comes when virtual time reaches it`() async throws {
        try await withTestHarness { harness in
            let heard = try await Journey.lateEvents(100, harness)
            #expect(heard == 100)
        }
    }

    @Test func `A gate holds a request that the test was told of`() async throws {
        try await withTestHarness { harness in
            let waiting = try await Journey.heldResponses(100, harness)
            #expect(waiting == Array(repeating: 1, count: 100))
        }
    }

    @Test func `A traffic file keeps a response's text and hides its secrets`() async throws {
        try await withTestHarness { harness in
            let file = try await Journey.recordSecret(harness)
            #expect(file.contains("the token is too old: sign in again") && !file.contains("s3cret"), "\(file)")
        }
    }

    @Test func `A wait for a task on another executor ends with a deadlock that says so`() async throws {
        try await withTestHarness { harness in
            let error = await Journey.waitForTask(harness)
            #expect(error.hasPrefix("deadlock at ") && error.contains("for a `Task {}`"), "\(error)")
        }
    }

    @Test func `Traffic is compared whatever the port`() async throws {
        try await withTestHarness { harness in
            let (file, mismatch) = try await Journey.recordAndCompare(harness)
            #expect(file.contains("orders/[0-9]+") && file.contains("localhost"), "\(file)")
            #expect(mismatch.contains("orders/new"), "\(mismatch)")
        }
    }

    @Test func `A local server's own routes answer requests, with parameters and conditions`() async throws {
        try await withTestHarness { harness in
            let found = try await Journey.askRoutes(harness)
            #expect(found == [#"200 {"id":"7"}"#, "304 ", "200 a/b.txt", "a/b.txt", "7 7"])
        }
    }

    @Test func `A local server's own WebSocket route talks to its client`() async throws {
        try await withTestHarness { harness in
            let welcome = try await Journey.converse(harness)
            #expect(welcome == .event("welcome", data: "own"))
        }
    }

    @Test func `Limited bandwidth takes virtual time`() throws {
        try withTestHarness { harness in
            let time = try Journey.overASlowLine(harness)
            #expect(time > .seconds(10) && time < .seconds(11), "\(time)")
        }
    }

    @Test func `A server that listens on all addresses is reached by the machine's other address`() async throws {
        try await withTestHarness { harness in
            let status = try await Journey.anotherAddress(harness)
            #expect(status == 200)
        }
    }
}
