import TestSupport
import Testing

@testable import PusherChannels

@Suite struct GapTests {
    private let event = #"{"event":"greet","channel":"room","data":"hi"}"#

    /// A transcript in which a channel's event came at ten seconds.
    private func heard() -> Transcript {
        var transcript = Transcript.subscribed(to: "room")
        transcript.pass(.seconds(10))
        transcript.receive(event)
        return transcript
    }

    /// Events between the answer to a request that was undone and that to the last one would be lost.
    @Test(arguments: [0, 1, 3])
    func `A late answer to an earlier, undone subscription isn't taken for the current one's`(answered: Int) {
        var transcript = Transcript.connected()
        for _ in 1...3 { _ = (transcript.subscribe("room"), transcript.unsubscribe("room")) }
        for _ in 0..<answered { #expect(transcript.succeed("room").deliveries == []) }
        transcript.subscribe("room")
        for _ in answered..<3 { #expect(transcript.succeed("room").deliveries == []) }
        let outputs = transcript.succeed("room")
        #expect(outputs.deliveries.contains(.subscribed(channel: "room")))
        #expect(outputs.gaps.isEmpty)
        transcript.pass(.seconds(1))
        let another = transcript.succeed("room")
        #expect(another.gaps == [.origin], "up to when all was heard before the first came")
        #expect(!another.deliveries.contains(.subscribed(channel: "room")), "it was subscribed all the time")
    }

    @Test func `A server that answers two subscribe requests only once is asked again after the time-out`() {
        var transcript = Transcript.subscribing(to: "room")
        transcript.unsubscribe("room")
        transcript.subscribe("room")
        transcript.succeed("room")
        transcript.passToDeadline()
        transcript.passToDeadline()
        #expect(transcript.succeed("room").deliveries.contains(.subscribed(channel: "room")))
    }

    // Proves P3.11.
    @Test func `A gap begins at the lost connection's last message and is told before the subscription`() {
        var transcript = heard()
        transcript.pass(.seconds(50))
        transcript.reconnect()
        let told = transcript.succeed("room").deliveries.filter { $0.envelope == nil }
        #expect(told == [.gap(channel: "room", since: .seconds(10)), .subscribed(channel: "room")])
    }

    /// Messages that arrived while the client didn't read were lost with the connection.
    @Test func `The gap of a connection lost after a pause of reading begins before the pause`() {
        var transcript = heard()
        transcript.play(.readersChanged(areOver: true))
        transcript.pass(.seconds(15))
        transcript.play(.readersChanged(areOver: false))
        transcript.reconnect()
        #expect(transcript.succeed("room").gaps == [.seconds(10)])
    }

    /// A process that was suspended is late to read messages that came before its connection was lost.
    @Test(arguments: [(Duration.seconds(30), Instant.seconds(20)), (.zero, .seconds(50)), (.seconds(99), .seconds(-49))])
    func `Messages that were read late move the start of the gap back by their age`(age: Duration, since: Instant) {
        var transcript = Transcript.subscribed(to: "room")
        transcript.pass(.seconds(50))
        transcript.receive(event)
        transcript.play(.receivedLate(by: .seconds(40), transcript.attempt))
        transcript.receive(event)
        transcript.play(.receivedLate(by: age, transcript.attempt))
        transcript.play(.receivedLate(by: .seconds(45), ConnectionAttempt(99)))
        transcript.pass(.seconds(5))
        transcript.reconnect()
        #expect(transcript.succeed("room").gaps == [since])
    }

    @Test func `Late reading on one connection doesn't lengthen the gap after the next one`() {
        var transcript = Transcript.subscribed(to: "room")
        transcript.play(.receivedLate(by: .seconds(40), transcript.attempt))
        transcript.reconnect()
        transcript.succeed("room")
        transcript.pass(.seconds(10))
        transcript.receive(event)
        let now = transcript.now
        transcript.reconnect()
        #expect(transcript.succeed("room").gaps == [now])
    }

    // Proves P3.11.
    @Test func `A refusal of a subscribed channel begins a gap at the last message before the refusal`() {
        var transcript = heard()
        transcript.pass(.seconds(5))
        transcript.receiveRefusal(of: "room")
        transcript.pass(.seconds(20))
        transcript.subscribe("room")
        #expect(transcript.succeed("room").gaps == [.seconds(10)])
    }

    @Test func `A gap spans the user's disconnection and all connections on which the channel wasn't subscribed`() {
        var transcript = heard()
        transcript.play(.disconnect)
        transcript.close(1000)
        transcript.pass(.seconds(100))
        transcript.play(.connect)
        transcript.establish()
        for _ in 0..<3 { transcript.reconnect() }
        #expect(transcript.succeed("room").gaps == [.seconds(10)])
    }

    @Test func `A channel that was unsubscribed and subscribed again reports no gap`() {
        var transcript = heard()
        transcript.unsubscribe("room")
        transcript.subscribe("room")
        #expect(transcript.succeed("room").gaps.isEmpty)
    }

    /// A pool moves a channel from one connection to another.
    @Test func `A channel moved to another connection reports a gap since the old one's last message`() throws {
        var first = heard()
        first.pass(.seconds(5))
        let handedOver = try #require(first.machine.stateToMove(of: "room", at: first.now))
        #expect(first.unsubscribe("room").sent == [.unsubscribe(channel: "room")])
        #expect(first.machine.stateToMove(of: "room", at: first.now) == nil)

        var second = Transcript.connected()
        second.pass(.seconds(20))
        #expect(second.play(.adopt(handedOver)).sent == [.subscription(to: "room")])
        let outputs = second.succeed("room")
        #expect(outputs.gaps == [.seconds(10)])
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
        #expect(second.succeed("private-room").gaps.isEmpty)
    }
}
