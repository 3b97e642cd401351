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
}
