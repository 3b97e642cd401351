import Testing

@testable import PusherChannels

/// Reading pauses while the user's side is behind, but only for a limited time.
@Suite struct ReadingTests {
    private func paused(limit: Duration = .seconds(20)) -> Transcript {
        var transcript = Transcript.connected { $0.pauseLimit = limit }
        transcript.play(.readersChanged(areOver: true))
        return transcript
    }

    @Test func `Reading stops while readers are behind and goes on when they have caught up`() {
        var transcript = Transcript.connected()
        let told = [true, true, false, false].map { transcript.play(.readersChanged(areOver: $0)) }
        #expect(told == [[.setReading(false)], [], [.setReading(true)], []])
    }

    // Proves P4.7.
    @Test func `While reading is paused, the client sends pings but doesn't wait for a pong`() {
        var transcript = Transcript.connected { $0.pauseLimit = .seconds(1_000) }
        transcript.pass(.seconds(90))
        transcript.play(.readersChanged(areOver: true))
        #expect(transcript.pass(.seconds(999)) == Array(repeating: .send(.ping), count: 11), "the server hears from the client")
        transcript.play(.readersChanged(areOver: false))
        #expect(transcript.pass(.seconds(80)).isEmpty)
        #expect(transcript.pass(.seconds(1)) == [.send(.ping)])
    }

    /// The reply may have arrived without being read yet.
    // Proves P4.7.
    @Test func `The time for a subscription's answer doesn't run while reading is paused`() {
        var transcript = Transcript.subscribing(to: "news") { $0.pauseLimit = .seconds(1_000) }
        transcript.play(.readersChanged(areOver: true))
        #expect(transcript.pass(.seconds(100)).allSatisfy { $0 == .send(.ping) })
        transcript.play(.readersChanged(areOver: false))
        #expect(!transcript.pass(.seconds(30)).failures.isEmpty, "the time runs again")
    }

    /// A message that arrives during a pause was read before it.
    @Test func `A message that arrives during a pause of reading doesn't end the pause`() {
        var transcript = paused(limit: .seconds(1_000))
        transcript.receive(#"{"event":"pusher:pong","data":"{}"}"#)
        #expect(transcript.pass(.seconds(999)) == Array(repeating: .send(.ping), count: 11))
        #expect(transcript.machine.state == .connected)
    }

    @Test func `A pause of reading ends at its limit, and the next reader that falls behind starts another`() {
        var transcript = Transcript.connected()
        for _ in 1...2 {
            #expect(transcript.play(.readersChanged(areOver: true)) == [.setReading(false)])
            #expect(transcript.pass(.seconds(19)).isEmpty)
            #expect(transcript.pass(.seconds(1)).withoutLogs == [.pauseLimitReached(receivedUpTo: .origin), .setReading(true)])
            #expect(transcript.pass(.seconds(21)).isEmpty, "once")
            #expect(transcript.play(.readersChanged(areOver: false)) == [])
        }
    }

    @Test func `A connection made during a pause is read until it is established, then paused again`() {
        var transcript = paused()
        transcript.close(1006)
        #expect(transcript.passToDeadline().contains(.setReading(true)))
        #expect(transcript.establish().last == .setReading(false), "still behind")
        let established = transcript.now
        #expect(transcript.pass(.seconds(20)).contains(.pauseLimitReached(receivedUpTo: established)))
    }

    @Test func `If readers are behind before the connection, its reading pauses once it is established`() {
        var transcript = Transcript()
        #expect(transcript.play(.readersChanged(areOver: true)) == [])
        #expect(transcript.machine.nextDeadline == nil)
        transcript.play(.connect)
        #expect(transcript.establish().last == .setReading(false))
    }
}
