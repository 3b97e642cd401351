import PusherChannels
import ServiceLifecycle
import TestSupport
import XCTest

/// Services beside a test in a harness, in XCTest.
final class HarnessServiceXCTests: XCTestCase {
    private struct Trouble: Error {}

    private struct Failing: Service {
        func run() async throws { throw Trouble() }
    }

    func testAClientRunsBesideATestAndEndsWithIt() async throws {
        try await withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("news")
            try await harness.withServices(pusher) {
                try await harness.eventually("the news are subscribed", within: .zero) { news.subscribed }
            }
            XCTAssertEqual(pusher.connection.connectionState, .disconnected)
        }
    }

    func testWhatEndsTheGroupIsThrown() async throws {
        try await withTestHarness { harness in
            do {
                try await harness.withServices(Failing()) {}
                XCTFail("nothing was thrown")
            } catch is Trouble {}
        }
    }
}
