import Foundation
import PusherTestSupport
import TestSupportTesting
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

    @Test func `A fake gives events and a channel's updates`() async throws {
        let (updates, fake) = PusherStream.makeStream(of: ChannelUpdate.self)
        fake.yield(.event(PusherEvent(eventName: "placed", channelName: "orders", data: "7")))
        fake.yield(.memberAdded(PusherPresenceChannelMember(userID: "ann")))
        fake.finish()
        var heard: [String] = []
        for try await update in updates {
            switch update {
            case .event(let event): heard.append(event.data ?? "")
            case .memberAdded(let member): heard.append(member.userID)
            default: break
            }
        }
        #expect(heard == ["7", "ann"])
    }
}

/// Tests with a harness that a trait makes.
@Suite(.harness(profile: .reverb, seed: 7)) struct HarnessTraitTests {
    @Test func `A suite's trait gives each test a harness`() throws {
        #expect(try #require(TestHarness.current).seed == 7)
    }

    @Test(.harness(seed: 8)) func `A test's trait gives it a harness`() throws {
        #expect(try #require(TestHarness.current).seed == 8)
    }
}
