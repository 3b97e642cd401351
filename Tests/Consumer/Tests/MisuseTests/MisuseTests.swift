import PusherTestSupport
import Testing
import XCTest

extension Trait where Self == IssueHandlingTrait {
    /// Has each issue of a test tell what happened in its harness.
    static var story: Self {
        .compactMapIssues { issue in
            guard let harness = TestHarness.current else { return issue }
            var issue = issue
            issue.comments.append("what happened in the harness:\n\(harness.story)")
            return issue
        }
    }
}

@Suite struct SwiftTestingMisuseTests {
    @Test func unmatchedRequest() throws { try withTestHarness { Misuse.unmatchedRequest($0) } }
    @Test func unusedStub() throws { try withTestHarness { Misuse.unusedStub($0) } }
    @Test func stepOutOfOrder() throws { try withTestHarness { Misuse.stepOutOfOrder($0) } }
    @Test func leak() throws { try withTestHarness { Misuse.leak($0) } }
    @Test func openSocket() throws { try withTestHarness { Misuse.openSocket($0) } }
    @Test func pendingTimer() throws { try withTestHarness { Misuse.pendingTimer($0) } }
    @Test func errorOnABackgroundThread() async throws {
        try await withTestHarness { harness in
            await Task { Misuse.errorOnABackgroundThread(harness) }.value
        }
    }
    @Test func unplayedStep() throws { try withTestHarness { Misuse.unplayedStep($0) } }
    @Test func unexpectedCall() throws { try withTestHarness { Misuse.unexpectedCall($0) } }
    @Test func unsupportedFault() throws { try withTestHarness { Misuse.unsupportedFault($0) } }
    @Test func unimplemented() throws { try withTestHarness { Misuse.unimplemented($0) } }
    @Test func nothing() throws { try withTestHarness { Misuse.nothing($0) } }
    @Test(.story) func failedExpectation() throws {
        try withTestHarness(apps: [.local]) { harness in
            let news = Misuse.refusedChannel(harness)
            #expect(news.subscribed)
        }
    }
    @Test func neverHappened() throws {
        try withTestHarness(apps: [.local]) { harness in
            let news = Misuse.refusedChannel(harness)
            try harness.eventually("news is subscribed") { news.subscribed }
        }
    }
    @Test func publishToNobody() throws { try withTestHarness { Misuse.publishToNobody($0) } }
    @Test func sendAfterClose() throws { try withTestHarness { Misuse.sendAfterClose($0) } }
    @Test func shadowedStub() throws { try withTestHarness { Misuse.shadowedStub($0) } }
    @Test func recordingOnCI() throws { try withTestHarness { Misuse.recordingOnCI($0) } }
    @Test func unheldRecorder() throws { try withTestHarness { Misuse.unheldRecorder($0) } }
    @Test func nearlyADelegate() throws { try withTestHarness { Misuse.nearlyADelegate($0) } }
    @Test func waitInVain() async throws { try await withTestHarness { try await Misuse.waitInVain($0) } }
    @Test func routes() async throws { try await withTestHarness { try await Misuse.routes($0) } }
    @Test func nestedHarness() throws { try withTestHarness { try Misuse.nestedHarness($0) } }
    @Test func useAfterTheEnd() throws { try withTestHarness { try Misuse.useAfterTheEnd($0) } }
    @Test func sharedHarness() throws { try Misuse.sharedHarness() }
    @Test func staticClient() throws {
        let pusher = try Misuse.staticClient()
        try withTestHarness { _ in pusher.connect() }
    }
    @Test func outlivingTask() async throws { try await Misuse.outlivingTask() }
    @Test func belowZero() throws { try withTestHarness { Misuse.belowZero($0) } }
    @Test func everyZero() throws { try withTestHarness { Misuse.everyZero($0) } }
    @Test func twoAdvances() throws { try withTestHarness { Misuse.twoAdvances($0) } }
    @Test func virtualTimeOfAServer() async throws { try await withTestHarness { try await Misuse.virtualTimeOfAServer($0) } }
    @Test func delegateRecursion() throws {
        try withTestHarness(apps: [.local], allowing: [.leak, .openSocket, .pendingTimer]) { Misuse.delegateRecursion($0) }
    }
    @Test func forgottenHarness() { Misuse.forgetTheHarness() }
}

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
    func testNestedHarness() throws { try withTestHarness { try Misuse.nestedHarness($0) } }
    func testUseAfterTheEnd() throws { try withTestHarness { try Misuse.useAfterTheEnd($0) } }
    func testSharedHarness() throws { try Misuse.sharedHarness() }
    func testStaticClient() throws {
        let pusher = try Misuse.staticClient()
        try withTestHarness { _ in pusher.connect() }
    }
    func testOutlivingTask() async throws { try await Misuse.outlivingTask() }
    func testBelowZero() { Misuse.belowZero(harness) }
    func testEveryZero() { Misuse.everyZero(harness) }
    func testTwoAdvances() { Misuse.twoAdvances(harness) }
    func testVirtualTimeOfAServer() async throws { try await Misuse.virtualTimeOfAServer(harness) }
    func testDelegateRecursion() {
        harness = TestHarness(apps: [.local], allowing: [.leak, .openSocket, .pendingTimer])
        Misuse.delegateRecursion(harness)
    }
    func testForgottenHarness() { Misuse.forgetTheHarness() }
}

/// A test case whose harness lives as long as the process and is never verified.
final class XCTestForgottenTests: XCTestCase {
    private let harness = TestHarness()

    func testForgottenProperty() { Misuse.unusedStub(harness) }
}
