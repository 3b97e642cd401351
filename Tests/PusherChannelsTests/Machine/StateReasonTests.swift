import Testing

@testable import PusherChannels

/// The reasons for state changes, and a reconnect policy that is changed before the connection is lost.
@Suite struct StateReasonTests {
    private func reasons(_ outputs: [Output]) -> [PusherError?] {
        outputs.deliveries.compactMap { if case .stateChanged(_, _, let reason) = $0 { .some(reason) } else { nil } }
    }

    @Test func whatTheUserAskedForHasNone() {
        var transcript = Transcript()
        #expect(reasons(transcript.play(.connect)) == [nil])
        #expect(reasons(transcript.establish()) == [nil])
        #expect(reasons(transcript.play(.disconnect)) == [nil])
    }

    @Test(
        arguments: [(4001, PusherError.Kind.server), (4100, .server), (4200, .server), (1006, .server)]
            as [(UInt16, PusherError.Kind)])
    func aCloseIsTheReason(code: UInt16, kind: PusherError.Kind) {
        var transcript = Transcript.connected()
        let reason = reasons(transcript.close(code, "why")).first ?? nil
        #expect(reason?.kind == kind)
        #expect(reason?.code == Int(code))
    }

    @Test func aTimeOutIsTheReason() {
        var transcript = Transcript.connected()
        transcript.pass(.seconds(90))
        #expect(reasons(transcript.pass(.seconds(30))).first??.kind == .timedOut)
    }

    @Test func theErrorThatCameBeforeAPlainCloseIsTheReason() {
        var transcript = Transcript()
        transcript.play(.connect)
        transcript.play(.socketOpened(transcript.attempt))
        transcript.receive(#"{"event":"pusher:error","data":{"message":"no such app","code":4001}}"#)
        let reason = reasons(transcript.close(1006)).first ?? nil
        #expect(reason?.message.hasPrefix("no such app; check the key") == true)
    }

    @Test func thePolicyCanBeChangedMeanwhile() {
        var transcript = Transcript.connected()
        transcript.play(.reconnectPolicy(ReconnectPolicy(initialDelay: .seconds(1), maximumRetries: 0)))
        let outputs = transcript.close(1006)
        #expect(outputs.stateChanges == [.disconnected])
        #expect(reasons(outputs).first??.kind == .attemptsExhausted)
    }
}
