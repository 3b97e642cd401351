import Testing

@testable import PusherChannels

/// The hint that the network may have changed.
@Suite struct NetworkChangeTests {
    // Proves P4.8, P5.12.
    @Test func anAttemptThatWaitsIsMadeAtOnce() {
        var transcript = Transcript.connected { $0.reconnectPolicy.initialDelay = .seconds(60) }
        transcript.close(1006)
        #expect(transcript.machine.nextAttempt != nil)
        #expect(transcript.play(.networkChanged).contains(.command(.openSocket(transcript.attempt, secure: true))))
        #expect(transcript.machine.nextAttempt == nil)
    }

    // Proves P4.8.
    @Test func aConnectionThatWasLeftBehindIsNoticedWithinThePongTimeout() {
        var transcript = Transcript.connected()
        transcript.pass(.seconds(5))
        #expect(transcript.play(.networkChanged) == [.command(.send(.ping))])
        #expect(transcript.play(.networkChanged) == [], "one question is enough")
        #expect(transcript.pass(.seconds(29)).isEmpty)
        #expect(transcript.pass(.seconds(1)).stateChanges == [.connecting])
    }

    // Proves P4.8.
    @Test func whileNothingIsReadTheRequestWaits() {
        var transcript = Transcript.connected()
        transcript.play(.readersChanged(areOver: true))
        #expect(transcript.play(.networkChanged) == [])
        #expect(transcript.play(.readersChanged(areOver: false)) == [.setReading(true), .command(.send(.ping))])
        #expect(transcript.pass(.seconds(30)).stateChanges == [.connecting])
    }

    @Test func aConnectionThatRepliesStays() {
        var transcript = Transcript.connected()
        transcript.play(.networkChanged)
        transcript.receive(#"{"event":"pusher:pong"}"#)
        #expect(transcript.pass(.seconds(31)).stateChanges == [])
    }

    @Test func otherwiseItChangesNothing() {
        var transcript = Transcript()
        #expect(transcript.play(.networkChanged) == [])
        transcript.play(.connect)
        #expect(transcript.play(.networkChanged) == [])
        transcript.play(.disconnect)
        #expect(transcript.play(.networkChanged) == [])
    }
}
