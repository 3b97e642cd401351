import PusherTestSupport
import Testing

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
    @Test func forgottenHarness() { Misuse.forgetTheHarness() }
}
