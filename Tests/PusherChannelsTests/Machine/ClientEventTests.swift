import Testing

@testable import PusherChannels

@Suite struct ClientEventTests {
    private let event = ClientEvent(name: "client-e", channel: "private-room", data: "{\"a\":1}")

    private func subscribing() -> Transcript {
        Transcript.subscribing(to: "private-room", auth: PusherAuth(auth: "k:s"))
    }

    private func trigger(_ transcript: Transcript, _ event: ClientEvent) -> TriggerResult {
        var machine = transcript.machine
        return machine.trigger(event, at: transcript.now)
    }

    // Proves P8.5, P8.6.
    @Test func `Client events triggered before the subscription succeeds are sent once after it, in order`() {
        var transcript = subscribing()
        #expect(trigger(transcript, event) == .queued)
        let second = ClientEvent(name: "client-f", channel: "private-room", data: "2")
        for event in [event, second] { #expect(transcript.play(.trigger(event)).isEmpty) }
        #expect(transcript.succeed("private-room").sent == [event.message, second.message])
        #expect(transcript.succeed("private-room").sent.isEmpty, "they are sent once")
    }

    /// A refusal that may pass by itself is logged at level debug, for those who look closely; the others are warnings.
    @Test(arguments: [("e", 0, LogLevel.warning), ("client-e", 0, .warning), ("client-e", 2, .debug)])
    func `A refused client event is logged, as a warning unless the refusal may pass by itself`(
        name: String, earlier: Int, level: LogLevel
    ) throws {
        var transcript = Transcript.connected { $0.unsentEventLimit = 2 }
        if earlier > 0 { transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:s"))) }
        for _ in 0..<earlier { transcript.play(.trigger(event)) }
        let outputs = transcript.play(.trigger(ClientEvent(name: name, channel: "private-room", data: "1")))
        guard case .log(let line)? = outputs.first, outputs.count == 1 else {
            Issue.record("\(outputs)")
            return
        }
        #expect((line.message, line.level) == (.notTriggered, level))
    }

    // Proves P8.5.
    @Test func `Client events that wait for their subscription are limited in number, by default to 100`() {
        var transcript = Transcript.subscribing(to: "private-room", auth: PusherAuth(auth: "k:s")) { $0.unsentEventLimit = 2 }
        for _ in 1...2 { transcript.play(.trigger(event)) }
        #expect(throws: Never.self) { try trigger(transcript, event).refusal() }
        #expect(ConnectionMachine.Configuration().unsentEventLimit == 100)
    }

    // Proves P8.3.
    @Test(arguments: ["private-a", "presence-a", "private-cache-a", "presence-cache-a"])
    func `Private and presence channels, including their cache kinds, take client events`(name: String) {
        let channel = Name(name)
        var transcript = Transcript.subscribing(to: channel, auth: PusherAuth(auth: "k:s"))
        transcript.receive(#"{"event":"pusher_internal:subscription_succeeded","channel":"\#(channel)"}"#)
        #expect(trigger(transcript, ClientEvent(name: "client-e", channel: channel, data: "{}")) == .sent)
    }

    // Proves P8.2, P8.3, P8.6.
    @Test(arguments: [
        ("shout", "private-room"), ("client-e", "room"), ("client-e", "private-encrypted-room"), ("client-e", "private-other"),
    ])
    func `A client event with a wrong name or on a channel that takes none is refused as invalid`(
        name: String, channel: String
    ) throws {
        var transcript = subscribing()
        transcript.succeed("private-room")
        transcript.play(.subscribe(channel: "room", auth: nil))
        let event = ClientEvent(name: name, channel: Name(channel), data: "{}")
        #expect(try trigger(transcript, event).refusal().kind == .invalidRequest)
    }

    // Proves P8.7.
    @Test(arguments: [
        ("client-" + String(repeating: "n", count: 193), 10_240, true), ("client-" + String(repeating: "é", count: 193), 2, true),
        ("client-" + String(repeating: "n", count: 194), 2, false),
        ("client-e", 10_240, true), ("client-e", 10_241, false),
    ])
    func `A client event's name may have 200 characters and its data 10 KB, and no more`(
        name: String, size: Int, isAccepted: Bool
    ) {
        var transcript = subscribing()
        transcript.succeed("private-room")
        let data = "\"" + String(repeating: "x", count: size - 2) + "\""
        let result = trigger(transcript, ClientEvent(name: name, channel: "private-room", data: data))
        #expect((result == .sent) == isAccepted)
    }

    // Proves P12.4.
    @Test func `With the protocol's limits switched off, client events may have any size and rate`() {
        var transcript = Transcript.subscribing(to: "private-room", auth: PusherAuth(auth: "k:s")) { $0.limits = .unchecked }
        transcript.succeed("private-room")
        for _ in 0..<100 { #expect(transcript.play(.trigger(event)) == [.command(.send(event.message))]) }
        let big = ClientEvent(name: "client-e", channel: "private-room", data: String(repeating: "1", count: 100_000))
        #expect(trigger(transcript, big) == .sent)
    }

    // Proves P8.8.
    @Test func `An eleventh client event within a second is refused as one too many`() throws {
        var transcript = subscribing()
        transcript.succeed("private-room")
        for _ in 0..<10 { #expect(transcript.play(.trigger(event)) == [.command(.send(event.message))]) }
        #expect(try trigger(transcript, event).refusal().kind == .tooManyClientEvents)
        transcript.pass(.milliseconds(999))
        #expect(trigger(transcript, event) != .sent)
        transcript.pass(.milliseconds(1))
        #expect(trigger(transcript, event) == .sent)
    }

    // Proves P8.9.
    @Test func `Client events that waited on several channels are sent by turns, so no channel starves`() {
        let names = ["private-a", "private-b", "private-c"]
        let events = names.map { ClientEvent(name: "client-e", channel: Name($0), data: "1") }
        var transcript = Transcript.connected()
        for name in names { transcript.play(.subscribe(channel: Name(name), auth: PusherAuth(auth: "k:s"))) }
        for _ in 0..<40 { transcript.play(.trigger(events[0])) }
        for event in events.dropFirst() { for _ in 0..<5 { transcript.play(.trigger(event)) } }
        for name in names {
            transcript.receive(#"{"event":"pusher_internal:subscription_succeeded","channel":"\#(name)","data":"{}"}"#)
        }
        var sent: [ClientMessage] = []
        for _ in 0..<2 {
            sent += transcript.pass(.seconds(1)).sent
            for _ in 0..<10 { transcript.play(.trigger(events[0])) }
        }
        #expect(events.map { event in sent.count { $0 == event.message } } == [10, 5, 5])
        #expect(sent.prefix(3) == [events[1], events[2], events[0]].map(\.message)[...], "the first had its turn already")
    }

    // Proves P8.9.
    @Test func `Waiting client events are sent at ten a second, and new ones queue behind them`() {
        var transcript = subscribing()
        for _ in 0..<25 { transcript.play(.trigger(event)) }
        #expect(transcript.succeed("private-room").sent.count == 10)
        #expect(trigger(transcript, event) == .queued, "it must not overtake those that wait")
        #expect(transcript.pass(.milliseconds(999)).sent.isEmpty)
        #expect(transcript.pass(.milliseconds(1)).sent.count == 10)
        #expect(transcript.pass(.seconds(1)).sent.count == 5)
        #expect(transcript.pass(.seconds(1)).sent.isEmpty)
    }

    @Test func `Client events left unsent when the connection is lost are sent on the next one`() {
        var transcript = Transcript.connected()
        func authorize(_ attempts: [SubscriptionAttempt]) {
            for attempt in attempts { transcript.play(.authorized(attempt, .success(PusherAuth(auth: "k:s")))) }
        }
        let asked = transcript.play(.subscribe(channel: "private-room", auth: nil)).authorizations
        for _ in 0..<15 { transcript.play(.trigger(event)) }
        authorize(asked)
        #expect(transcript.succeed("private-room").sent.count == 10)
        let again = transcript.restart().authorizations
        authorize(again)
        #expect(transcript.succeed("private-room").sent.count == 5)
    }

    @Test func `Client events that were sent no longer count toward the byte limit of waiting ones`() {
        var transcript = Transcript.subscribing(to: "private-room", auth: PusherAuth(auth: "k:s")) {
            $0.unsentEventByteLimit = 2 * event.data.utf8.count
        }
        for _ in 0..<2 { transcript.play(.trigger(event)) }
        #expect(trigger(transcript, event) != .queued)
        #expect(transcript.succeed("private-room").sent.count == 2)
        transcript.restart()
        transcript.play(.trigger(event))
        #expect(trigger(transcript, event) == .queued)
    }
}
