import Testing

@testable import PusherChannels

@Suite struct ClientEventTests {
    private let event = ClientEvent(name: "client-e", channel: "private-room", data: "{\"a\":1}")

    private func subscribing(_ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }) -> Transcript {
        Transcript.subscribing(to: "private-room", auth: .signed, change)
    }

    private func subscribed(_ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }) -> Transcript {
        Transcript.subscribed(to: "private-room", auth: .signed, change)
    }

    /// Returns what a call with this event would return now.
    private func trigger(_ transcript: Transcript, _ event: ClientEvent) -> TriggerResult {
        var transcript = transcript
        return transcript.trigger(event)
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
    func `A refused client event is logged, as a warning unless it may pass`(name: String, earlier: Int, level: LogLevel) throws {
        var transcript = Transcript.connected { $0.unsentEventLimit = 2 }
        if earlier > 0 { transcript.subscribe("private-room", auth: .signed) }
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
        var transcript = subscribing { $0.unsentEventLimit = 2 }
        for _ in 1...2 { transcript.play(.trigger(event)) }
        #expect(throws: Never.self) { try trigger(transcript, event).refusal() }
        #expect(ConnectionMachine.Configuration().unsentEventLimit == 100)
    }

    // Proves P8.3.
    @Test(arguments: ["private-a", "presence-a", "private-cache-a", "presence-cache-a"] as [Name])
    func `Private and presence channels, including their cache kinds, take client events`(channel: Name) {
        let transcript = Transcript.subscribed(to: channel, auth: .signed)
        #expect(trigger(transcript, ClientEvent(name: "client-e", channel: channel, data: "{}")) == .sent)
    }

    // Proves P8.2, P8.3, P8.6.
    @Test(
        arguments: [
            ("shout", "private-room"), ("client-e", "room"), ("client-e", "private-encrypted-room"),
            ("client-e", "private-other"),
        ] as [(String, Name)])
    func `A client event with a wrong name or on a channel that takes none is invalid`(name: String, channel: Name) throws {
        var transcript = subscribed()
        transcript.subscribe("room")
        let event = ClientEvent(name: name, channel: channel, data: "{}")
        #expect(try trigger(transcript, event).refusal().kind == .invalidRequest)
    }

    // Proves P8.7, P12.4.
    @Test(arguments: [
        ("client-" + String(repeating: "n", count: 193), 10_240, true), ("client-" + String(repeating: "é", count: 193), 2, true),
        ("client-" + String(repeating: "n", count: 194), 2, false),
        ("client-e", 10_240, true), ("client-e", 10_241, false),
    ])
    func `By default, a client event may have a 200-character name and 10 KB of data`(name: String, size: Int, isAccepted: Bool) {
        let data = "\"" + String(repeating: "x", count: size - 2) + "\""
        let event = ClientEvent(name: name, channel: "private-room", data: data)
        #expect((trigger(subscribed(), event) == .sent) == isAccepted)
        #expect(trigger(subscribed { $0.limits = .unchecked }, event) == .sent)
    }

    // Proves P8.8, P12.4.
    @Test func `An eleventh client event within a second is one too many, unless the limits are switched off`() throws {
        var transcript = subscribed()
        for _ in 0..<10 { #expect(transcript.play(.trigger(event)) == [.send(event.message)]) }
        #expect(try trigger(transcript, event).refusal().kind == .tooManyClientEvents)
        transcript.pass(.milliseconds(999))
        #expect(trigger(transcript, event) != .sent)
        transcript.pass(.milliseconds(1))
        #expect(trigger(transcript, event) == .sent)
        var unlimited = subscribed { $0.limits = .unchecked }
        for _ in 0..<100 { #expect(unlimited.play(.trigger(event)) == [.send(event.message)]) }
    }

    // Proves P8.9.
    @Test func `Client events that waited on several channels are sent by turns, so no channel starves`() {
        let names: [Name] = ["private-a", "private-b", "private-c"]
        let events = names.map { ClientEvent(name: "client-e", channel: $0, data: "1") }
        var transcript = Transcript.connected()
        for name in names { transcript.subscribe(name, auth: .signed) }
        for _ in 0..<40 { transcript.play(.trigger(events[0])) }
        for event in events.dropFirst() { for _ in 0..<5 { transcript.play(.trigger(event)) } }
        for name in names { transcript.succeed(name) }
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
        let pauses = [Duration.milliseconds(999), .milliseconds(1), .seconds(1), .seconds(1)]
        #expect(pauses.map { transcript.pass($0).sent.count } == [0, 10, 5, 0])
    }

    @Test func `Client events left unsent when the connection is lost are sent on the next one`() {
        var transcript = subscribing()
        for _ in 0..<15 { transcript.play(.trigger(event)) }
        #expect(transcript.succeed("private-room").sent.count == 10)
        for attempt in transcript.restart().authorizations { transcript.authorize(attempt) }
        #expect(transcript.succeed("private-room").sent.count == 5)
    }

    @Test func `Client events that were sent no longer count toward the byte limit of waiting ones`() {
        var transcript = subscribing { $0.unsentEventByteLimit = 2 * event.data.utf8.count }
        for _ in 0..<2 { transcript.play(.trigger(event)) }
        #expect(trigger(transcript, event) != .queued)
        #expect(transcript.succeed("private-room").sent.count == 2)
        transcript.restart()
        transcript.play(.trigger(event))
        #expect(trigger(transcript, event) == .queued)
    }
}
