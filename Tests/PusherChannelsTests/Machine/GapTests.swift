import TestSupport
import Testing

@testable import PusherChannels

@Suite struct GapTests {
    private func subscribed() -> Transcript {
        Transcript.subscribed(to: "room")
    }

    private func gaps(_ outputs: [Output]) -> [Delivery] {
        outputs.deliveries.filter { if case .gap = $0 { true } else { false } }
    }

    /// Events between the answer to a request that was undone and that to the last one would be lost.
    @Test(arguments: [0, 1, 3]) func `A late answer to an earlier, undone subscription isn't taken for the current one's`(
        answered: Int
    ) {
        var transcript = Transcript.connected()
        for _ in 1...3 {
            transcript.play(.subscribe(channel: "room", auth: nil))
            transcript.play(.unsubscribe(channel: "room"))
        }
        for _ in 0..<answered { #expect(transcript.succeed("room").deliveries == []) }
        transcript.play(.subscribe(channel: "room", auth: nil))
        for _ in answered..<3 { #expect(transcript.succeed("room").deliveries == []) }
        let outputs = transcript.succeed("room")
        #expect(outputs.deliveries.contains(.subscribed(channel: "room")))
        #expect(gaps(outputs).isEmpty)
        transcript.pass(.seconds(1))
        let another = transcript.succeed("room")
        #expect(gaps(another) == [.gap(channel: "room", since: .origin)], "up to when all was heard before the first came")
        #expect(!another.deliveries.contains(.subscribed(channel: "room")), "it was subscribed all the time")
    }

    @Test func `A server that answers two subscribe requests only once is asked again after the time-out`() {
        var transcript = Transcript.subscribing(to: "room")
        transcript.play(.unsubscribe(channel: "room"))
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.succeed("room")
        transcript.passToDeadline()
        transcript.passToDeadline()
        #expect(transcript.succeed("room").deliveries.contains(.subscribed(channel: "room")))
    }

    // Proves P3.11.
    @Test func `A gap begins at the lost connection's last message and is told before the subscription`() {
        var transcript = subscribed()
        transcript.pass(.seconds(10))
        transcript.receive(#"{"event":"greet","channel":"room","data":"hi"}"#)
        transcript.pass(.seconds(50))
        transcript.reconnect()
        let outputs = transcript.succeed("room")
        #expect(gaps(outputs) == [.gap(channel: "room", since: .seconds(10))])
        let announced = outputs.deliveries.firstIndex(of: .gap(channel: "room", since: .seconds(10)))
        let subscribed = outputs.deliveries.firstIndex(of: .subscribed(channel: "room"))
        #expect((announced ?? 9) < (subscribed ?? 0), "before what comes after it")
    }

    /// Messages that arrived while the client didn't read were lost with the connection.
    @Test func `The gap of a connection lost after a pause of reading begins before the pause`() {
        var transcript = subscribed()
        transcript.pass(.seconds(10))
        transcript.receive(#"{"event":"greet","channel":"room","data":"hi"}"#)
        transcript.play(.readersChanged(areOver: true))
        transcript.pass(.seconds(15))
        transcript.play(.readersChanged(areOver: false))
        transcript.reconnect()
        #expect(gaps(transcript.succeed("room")) == [.gap(channel: "room", since: .seconds(10))])
    }

    /// A process that was suspended is late to read messages that came before its connection was lost.
    @Test(arguments: [(Duration.seconds(30), Instant.seconds(20)), (.zero, .seconds(50)), (.seconds(99), .seconds(-49))])
    func `Messages that were read late move the start of the gap back by their age`(age: Duration, since: Instant) {
        var transcript = subscribed()
        transcript.pass(.seconds(50))
        transcript.receive(#"{"event":"greet","channel":"room","data":"hi"}"#)
        transcript.play(.receivedLate(by: .seconds(40), transcript.attempt))
        transcript.receive(#"{"event":"greet","channel":"room","data":"hi"}"#)
        transcript.play(.receivedLate(by: age, transcript.attempt))
        transcript.play(.receivedLate(by: .seconds(45), ConnectionAttempt(99)))
        transcript.pass(.seconds(5))
        transcript.reconnect()
        #expect(gaps(transcript.succeed("room")) == [.gap(channel: "room", since: since)])
    }

    @Test func `Late reading on one connection doesn't lengthen the gap after the next one`() {
        var transcript = subscribed()
        transcript.play(.receivedLate(by: .seconds(40), transcript.attempt))
        transcript.reconnect()
        transcript.succeed("room")
        transcript.pass(.seconds(10))
        transcript.receive(#"{"event":"greet","channel":"room","data":"hi"}"#)
        let now = transcript.now
        transcript.reconnect()
        #expect(gaps(transcript.succeed("room")) == [.gap(channel: "room", since: now)])
    }

    // Proves P3.11.
    @Test func `A refusal of a subscribed channel begins a gap at the last message before the refusal`() {
        var transcript = subscribed()
        transcript.pass(.seconds(10))
        transcript.receive(#"{"event":"greet","channel":"room","data":"hi"}"#)
        transcript.pass(.seconds(5))
        transcript.receive(
            #"{"event":"pusher:subscription_error","channel":"room","data":{"status":403,"error":"no longer"}}"#)
        transcript.pass(.seconds(20))
        transcript.play(.subscribe(channel: "room", auth: nil))
        #expect(gaps(transcript.succeed("room")) == [.gap(channel: "room", since: .seconds(10))])
    }

    @Test func `A gap spans all connections on which the channel wasn't subscribed`() {
        var transcript = subscribed()
        transcript.pass(.seconds(10))
        for _ in 0..<3 {
            transcript.reconnect()
        }
        #expect(gaps(transcript.succeed("room")) == [.gap(channel: "room", since: .origin)])
    }

    @Test func `A channel subscribed again after the user disconnected reports a gap`() {
        var transcript = subscribed()
        transcript.pass(.seconds(10))
        transcript.play(.disconnect)
        transcript.close(1000)
        transcript.pass(.seconds(100))
        transcript.play(.connect)
        transcript.establish()
        #expect(gaps(transcript.succeed("room")) == [.gap(channel: "room", since: .origin)])
    }

    @Test func `A channel that was unsubscribed and subscribed again reports no gap`() {
        var transcript = subscribed()
        transcript.play(.unsubscribe(channel: "room"))
        transcript.play(.subscribe(channel: "room", auth: nil))
        #expect(gaps(transcript.succeed("room")).isEmpty)
    }

    /// A pool moves a channel from one connection to another.
    @Test func `A channel moved to another connection reports a gap since the old one's last message`() throws {
        var first = subscribed()
        first.pass(.seconds(10))
        first.receive(#"{"event":"greet","channel":"room","data":"hi"}"#)
        first.pass(.seconds(5))
        let handedOver = try #require(first.machine.stateToMove(of: "room", at: first.now))
        #expect(first.play(.unsubscribe(channel: "room")).sent == [.unsubscribe(channel: "room")])
        #expect(first.machine.stateToMove(of: "room", at: first.now) == nil)

        var second = Transcript.connected()
        second.pass(.seconds(20))
        let asked = second.play(.adopt(handedOver))
        #expect(asked.sent == [.subscribe(channel: "room", auth: nil, channelData: nil)])
        let outputs = second.succeed("room")
        #expect(gaps(outputs) == [.gap(channel: "room", since: .seconds(10))])
        #expect(outputs.deliveries.contains(.subscribed(channel: "room")))
        #expect(second.play(.adopt(handedOver)).isEmpty, "it has the channel")
    }

    @Test func `A channel moved before its first subscription reports no gap`() throws {
        let first = Transcript.subscribing(to: "private-room")
        let handedOver = try #require(first.machine.stateToMove(of: "private-room", at: first.now))
        var second = Transcript()
        second.play(.adopt(handedOver))
        second.play(.connect)
        #expect(second.establish().authorizations.map(\.channel) == ["private-room"], "it waits for the connection")
        #expect(gaps(second.succeed("private-room")).isEmpty)
    }
}
