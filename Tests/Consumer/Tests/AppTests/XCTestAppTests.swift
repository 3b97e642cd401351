import Dispatch
import Foundation
import PusherTestSupport
import XCTest

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class XCTestAppTests: XCTestCase {
    func testAnAppsOwnClientIsServed() throws {
        try withTestHarness { harness in
            let inbox = Inbox()
            let heard = expectation(description: "the order is known")
            let feed = OrderFeed(harness.pusherEnvironment()) { text in
                inbox.add(text)
                heard.fulfill()
            }
            XCTAssertTrue(feed.orders.subscribed, "\(feed.orders)")
            harness.server.publish(channel: "private-orders", event: "placed", data: "7")
            wait(for: [heard], timeout: 10)
            XCTAssertEqual(inbox.all, ["7"])
            XCTAssertTrue(harness.timeline.entries.contains { $0.kind == "server" && $0.text.contains("app-key") })
        }
    }

    func testAKeyOfNoNamedAppIsRefused() throws {
        try withTestHarness(apps: [ServerApp(id: "7", key: "another", secret: "secret")]) { harness in
            let feed = OrderFeed(harness.pusherEnvironment()) { _ in }
            XCTAssertTrue("\(feed.orders)".hasSuffix("that its app lives in (code 4001)"), "\(feed.orders)")
        }
    }

    func testARequestThatIsKnownIsLateByTheClock() async throws {
        try await withTestHarness { harness in
            harness.session.stub("GET /late", .ok.delayed(by: .seconds(30)))
            let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
            let url = try XCTUnwrap(URL(string: "https://api.example.com/late"))
            for _ in 1...200 {
                async let response = urlSession.data(from: url)
                try await harness.session.nextRequest("GET /late")
                harness.scheduler.advance(by: .seconds(30))
                _ = try await response
            }
        }
    }

    func testAConditionIsWaitedForInVirtualTime() throws {
        try withTestHarness { harness in
            let feed = OrderFeed(harness.pusherEnvironment()) { _ in }
            harness.server.shutdown()
            try harness.eventually("the orders are subscribed again") { feed.orders.subscribed }
        }
    }

    func testTheResultOfAHarnessNeedNotBeUsed() throws {
        try withTestHarness { $0.scheduler.runNextTimer() }
    }

    func testAHandlerOfTheAppsIsSignedFor() async throws {
        try await withTestHarness { harness in
            let signer = Signer()
            signer.refuse(503)
            let desk = OrderDesk(harness.pusherEnvironment(), logger: harness.makeLogger("desk")) {
                try await signer.authorize(socketID: $0, channelName: $1)
            }
            try await harness.eventually("the orders are subscribed") { desk.orders.subscribed }
            XCTAssertEqual(signer.requests.map(\.channelName), ["private-orders", "private-orders"])
            // The client's lines are there, too.
            let asking = harness.logEvents(atLeast: .info).filter { "\($0.message)" == "asks to be let in" }
            XCTAssertEqual(asking.map(\.metadata), [["channel": "private-orders"], ["channel": "private-orders"]])
        }
    }

    func testAnEventsDataIsComparedAsJSON() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("orders")
            pusher.connect()
            harness.server.publish(channel: "orders", event: "placed", data: #"{"id": 7, "by": {"name": "ann"}}"#)
            XCTAssertEqual(
                recorder.notifications.last, .event("placed", channel: "orders", data: #"{"by":{"name":"ann"},"id":7}"#))
            guard case .event(_, _, let data, _)? = recorder.notifications.last else { return }
            XCTAssertEqual(differencesInJSON(data, from: #"{"by": {"name": "bob"}}"#), ["data.by.name is \"ann\", not \"bob\""])
        }
    }

    func testAPollRepeatsOnAQueueOfTheApps() {
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
        XCTAssertEqual(inbox.all, ["polled", "polled"])
    }

    func testAServersResponseIsLateByTheClock() async throws {
        try await withTestHarness { harness in
            let statuses = try await Journey.lateResponses(100, harness)
            XCTAssertEqual(statuses, Array(repeating: 200, count: 100))
        }
    }

    func testAScriptsEventIsLateByTheClock() async throws {
        try await withTestHarness { harness in
            let heard = try await Journey.lateEvents(100, harness)
            XCTAssertEqual(heard, 100)
        }
    }

    func testAGateHoldsWhatIsKnown() async throws {
        try await withTestHarness { harness in
            let waiting = try await Journey.heldResponses(100, harness)
            XCTAssertEqual(waiting, Array(repeating: 1, count: 100))
        }
    }

    func testAFileHasWordsAndNoSecrets() async throws {
        try await withTestHarness { harness in
            let file = try await Journey.recordSecret(harness)
            XCTAssertTrue(file.contains("the token is too old: sign in again") && !file.contains("s3cret"), file)
        }
    }

    func testAWaitForATaskElsewhereSaysSo() async throws {
        try await withTestHarness { harness in
            let error = await Journey.waitForTask(harness)
            XCTAssertTrue(error.hasPrefix("deadlock at ") && error.contains("for a `Task {}`"), error)
        }
    }

    func testTrafficIsComparedWhateverThePort() async throws {
        try await withTestHarness { harness in
            let (file, mismatch) = try await Journey.recordAndCompare(harness)
            XCTAssertTrue(file.contains("orders/[0-9]+") && file.contains("localhost"), file)
            XCTAssertTrue(mismatch.contains("orders/new"), mismatch)
        }
    }

    func testRoutesOfTheUsersOwnAreAsked() async throws {
        try await withTestHarness { harness in
            let found = try await Journey.askRoutes(harness)
            XCTAssertEqual(found, [#"200 {"id":"7"}"#, "304 ", "200 a/b.txt", "a/b.txt", "7 7"])
        }
    }

    func testAnErrorForPeopleSaysWhatWasNotStubbed() throws {
        let harness = TestHarness()
        let url = try XCTUnwrap(URL(string: "https://api.example.com/late"))
        let told = Inbox()
        harness.session.dataTask(with: URLRequest(url: url)) { _, _, error in
            told.add(error?.localizedDescription ?? "")
        }.resume()
        XCTAssertEqual(told.all, ["nothing answers GET https://api.example.com/late: nothing is stubbed"])
        XCTAssertThrowsError(try harness.verify())
    }

    func testAWebSocketOfTheUsersOwn() async throws {
        try await withTestHarness { harness in
            let welcome = try await Journey.converse(harness)
            XCTAssertEqual(welcome, .event("welcome", data: "own"))
        }
    }

    func testASlowLineIsSlowByTheClock() throws {
        try withTestHarness { harness in
            let time = try Journey.overASlowLine(harness)
            XCTAssert(time > .seconds(10) && time < .seconds(11), "\(time)")
        }
    }

    func testADeviceReachesWhoListensOnAllAddresses() async throws {
        try await withTestHarness { harness in
            let status = try await Journey.anotherAddress(harness)
            XCTAssertEqual(status, 200)
        }
    }
}
