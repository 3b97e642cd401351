import PusherTestSupport
import XCTest

final class XCTestMisuseTests: XCTestCase {
    private var harness: TestHarness!

    override func setUp() { harness = TestHarness() }
    override func tearDownWithError() throws { try harness.verify(hasFailed: testRun?.totalFailureCount != 0) }

    func testUnmatchedRequest() { Misuse.unmatchedRequest(harness) }
    func testUnusedStub() { Misuse.unusedStub(harness) }
    func testStepOutOfOrder() { Misuse.stepOutOfOrder(harness) }
    func testLeak() throws { try withTestHarness { Misuse.leak($0) } }
    func testOpenSocket() { Misuse.openSocket(harness) }
    func testPendingTimer() { Misuse.pendingTimer(harness) }
    func testErrorOnABackgroundThread() { Misuse.errorOnABackgroundThread(harness) }
    func testUnplayedStep() { Misuse.unplayedStep(harness) }
    func testUnexpectedCall() { Misuse.unexpectedCall(harness) }
    func testUnsupportedFault() { Misuse.unsupportedFault(harness) }
    func testUnimplemented() { Misuse.unimplemented(harness) }
    func testNothing() { Misuse.nothing(harness) }
    func testFailedExpectation() {
        harness = TestHarness(apps: [.local])
        let news = Misuse.refusedChannel(harness)
        XCTAssertTrue(news.subscribed, "\(news)")
    }
    func testNeverHappened() throws {
        harness = TestHarness(apps: [.local])
        let news = Misuse.refusedChannel(harness)
        try harness.eventually("news is subscribed") { news.subscribed }
    }
    func testPublishToNobody() { Misuse.publishToNobody(harness) }
    func testSendAfterClose() { Misuse.sendAfterClose(harness) }
    func testShadowedStub() { Misuse.shadowedStub(harness) }
    func testRecordingOnCI() throws { try withTestHarness { Misuse.recordingOnCI($0) } }
    func testUnheldRecorder() { Misuse.unheldRecorder(harness) }
    func testNearlyADelegate() { Misuse.nearlyADelegate(harness) }
    func testWaitInVain() async throws { try await Misuse.waitInVain(harness) }
    func testRoutes() async throws { try await Misuse.routes(harness) }
    func testForgottenHarness() { Misuse.forgetTheHarness() }
}

/// A test case whose harness lives as long as the process and is never verified.
final class XCTestForgottenTests: XCTestCase {
    private let harness = TestHarness()

    func testForgottenProperty() { Misuse.unusedStub(harness) }
}
