import PusherTestSupport
import XCTest

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

    func testAConditionIsWaitedForInVirtualTime() throws {
        try withTestHarness { harness in
            let feed = OrderFeed(harness.pusherEnvironment()) { _ in }
            harness.server.shutdown()
            try harness.eventually("the orders are subscribed again") { feed.orders.subscribed }
        }
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
}
