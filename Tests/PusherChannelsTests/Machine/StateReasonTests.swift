import Testing

@testable import PusherChannels

@Suite struct StateReasonTests {
    private func reasons(_ outputs: [Output]) -> [PusherError?] {
        outputs.deliveries.compactMap { if case .stateChanged(_, _, let reason) = $0 { .some(reason) } else { nil } }
    }

    @Test func `A state change that the user asked for has no reason`() {
        var transcript = Transcript()
        #expect(reasons(transcript.play(.connect)) == [nil])
        #expect(reasons(transcript.establish()) == [nil])
        #expect(reasons(transcript.play(.disconnect)) == [nil])
    }

    @Test(arguments: [4001, 4100, 4200, 1006] as [UInt16])
    func `A close by the server is the reason for the state change`(code: UInt16) {
        var transcript = Transcript.connected()
        let reason = reasons(transcript.close(code, "why")).first ?? nil
        #expect(reason?.kind == .server)
        #expect(reason?.code == Int(code))
    }

    @Test func `A missing pong is the reason for the state change`() {
        var transcript = Transcript.connected()
        transcript.pass(.seconds(90))
        #expect(reasons(transcript.pass(.seconds(30))).first??.kind == .timedOut)
    }

    @Test func `A reconnect policy changed while connected applies to the next loss`() {
        var transcript = Transcript.connected()
        transcript.play(.reconnectPolicy(ReconnectPolicy(initialDelay: .seconds(1), maximumRetries: 0)))
        let outputs = transcript.close(1006)
        #expect(outputs.stateChanges == [.disconnected])
        #expect(reasons(outputs).first??.kind == .attemptsExhausted)
    }
}

@Suite struct NetworkChangeTests {
    // Proves P4.8, P5.12.
    @Test func `A network change starts a waiting reconnect attempt at once`() {
        var transcript = Transcript.connected { $0.reconnectPolicy.initialDelay = .seconds(60) }
        transcript.close(1006)
        #expect(transcript.machine.nextAttempt != nil)
        #expect(transcript.play(.networkChanged).contains(.command(.openSocket(transcript.attempt, secure: true))))
        #expect(transcript.machine.nextAttempt == nil)
    }

    // Proves P4.8.
    @Test func `After a network change, a dead connection is noticed within the pong time-out`() {
        var transcript = Transcript.connected()
        transcript.pass(.seconds(5))
        #expect(transcript.play(.networkChanged) == [.command(.send(.ping))])
        #expect(transcript.play(.networkChanged) == [], "one question is enough")
        #expect(transcript.pass(.seconds(29)).isEmpty)
        #expect(transcript.pass(.seconds(1)).stateChanges == [.connecting])
    }

    // Proves P4.8.
    @Test func `A network change while reading is paused sends its ping when reading goes on`() {
        var transcript = Transcript.connected()
        transcript.play(.readersChanged(areOver: true))
        #expect(transcript.play(.networkChanged) == [])
        #expect(transcript.play(.readersChanged(areOver: false)) == [.setReading(true), .command(.send(.ping))])
        #expect(transcript.pass(.seconds(30)).stateChanges == [.connecting])
    }

    @Test func `A network change while disconnected, connecting, or disconnecting does nothing`() {
        var transcript = Transcript()
        #expect(transcript.play(.networkChanged) == [])
        transcript.play(.connect)
        #expect(transcript.play(.networkChanged) == [])
        transcript.play(.disconnect)
        #expect(transcript.play(.networkChanged) == [])
    }
}
