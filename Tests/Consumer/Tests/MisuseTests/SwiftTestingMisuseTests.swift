import PusherTestSupport
import Testing

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
    @Test func forgottenHarness() { Misuse.forgetTheHarness() }
}
