import TestSupport
import Testing

@testable import PusherChannels

/// On a Sockudo server, what a channel missed is replayed, and only what can't be is a gap. The frames are as recorded.
@Suite struct RecoveryTests {
    private let away: [String] = ["recovered 2", "success", "subscribed"]

    // MARK: Both prefixes

    // Proves P19.1.
    @Test func `A client for Sockudo requests protocol 2 in the upgrade`() {
        let options = PusherClientOptions(host: .host("s"), protocol: .sockudo)
        let target = ConnectionTarget(
            key: "k", pathPrefix: nil, protocol: options.protocol, servers: options.servers, request: options.webSocketRequest)
        let path = target.request(to: 0, secure: true).path
        #expect(path == "/app/k?protocol=2&client=swift-pusher-channels&version=\(libraryVersion)&echo_messages=false")
        #expect(options.machineConfiguration.protocol == .sockudo)
    }

    // Proves P19.1.
    @Test(arguments: ["sockudo", "pusher"])
    func `A client for Sockudo reads protocol events with either prefix, sockudo or pusher`(prefix: String) {
        var transcript = Transcript.opened { $0.protocol = .sockudo }
        let outputs = transcript.receive(#"{"event":"\#(prefix):connection_established","data":"{\"socket_id\":\"1.2\"}"}"#)
        #expect(outputs.events == ["pusher:connection_established"])
        transcript.subscribe("presence-r", auth: PusherAuth(auth: "k:s", channelData: #"{"user_id":"u1"}"#))
        let members = #"{\"presence\":{\"count\":1,\"hash\":{\"u1\":{\"n\":1}},\"ids\":[\"u1\"]},\"attach_serial\":0}"#
        transcript.receive(
            #"{"event":"\#(prefix)_internal:subscription_succeeded","channel":"presence-r","data":"\#(members)","stream_id":"s","serial":0}"#
        )
        let joined = transcript.receive(
            #"{"event":"\#(prefix)_internal:member_added","channel":"presence-r","data":"{\"user_info\":{},\"user_id\":\"u2\"}"}"#
        )
        #expect(joined.events == ["pusher:member_added"])
        #expect(transcript.receive(#"{"event":"\#(prefix):ping"}"#).sent == [.pong])
        let error = transcript.receive(#"{"event":"\#(prefix):error","data":{"message":"no","code":4200}}"#)
        #expect(error.errors.map(\.code) == [4200])
        // An update of a message is an event of the channel, under its own name.
        let update =
            #"{"event":"sockudo:message.update","channel":"presence-r","data":"2","name":"e","stream_id":"s","serial":1}"#
        #expect(transcript.receive(update).events == ["sockudo:message.update"])
    }

    @Test func `A client of protocol 7 ignores stream positions and reports a gap after a loss`() {
        var transcript = Transcript.subscribing(to: "room")
        transcript.receive(
            #"{"event":"pusher_internal:subscription_succeeded","channel":"room","data":"{}","stream_id":"s","serial":1}"#)
        #expect(transcript.events(2, 2).events == ["e", "e"], "it knows nothing of serials")
        #expect(transcript.receive(#"{"event":"sockudo:resume_success","data":"{}"}"#).events == ["sockudo:resume_success"])
        transcript.reconnect()
        #expect(transcript.succeed("room").told.first == "gap")
    }

    // MARK: A replay

    // Proves P19.2, P19.3, P19.6.
    @Test func `Events missed between two connections are replayed in order, and no gap is reported`() {
        var transcript = Transcript.sockudo(attach: 5)
        #expect(transcript.event(6).events == ["e"])
        // An event without a position, like a cached one or an ephemeral one, changes nothing.
        #expect(transcript.receive(#"{"event":"e","channel":"room","data":"x","message_id":"m"}"#).events == ["e"])
        let asked = transcript.subscribeAgain(serial: 8, attach: 8)
        #expect(asked.sent == [.replay(after: 6)])
        #expect(asked.told.isEmpty, "nobody knows yet whether there is a gap")
        #expect(transcript.events(9, 7, 8).told.isEmpty, "live events may come before the replayed ones")
        #expect(transcript.resumed(upTo: 8).told == ["7", "8"] + away + ["9"])
        #expect(transcript.events(9, 10).told == ["10"], "9 was seen")
        #expect(transcript.subscribeAgain(serial: 10, attach: 10).sent == [.replay(after: 10)])
    }

    // Proves P19.16.
    @Test(arguments: [false, true])
    func `The first subscription asks for a replay after the stored position, also if it was under way`(isLate: Bool) {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        let stored = StreamPosition(stream: "s", serial: 6)
        if isLate { transcript.subscribe("room") }
        transcript.play(.subscribe(channel: "room", auth: nil, after: stored))
        #expect(transcript.succeed(serial: 8, attach: 8).sent == [.resume(["room": stored])])
        transcript.events(7, 8)
        #expect(transcript.resumed(upTo: 8).told == ["7", "8"] + away)
        transcript.play(.subscribe(channel: "room", auth: nil, after: stored))
        #expect(transcript.events(7, 9).told == ["9"], "a channel that is there goes on where it is")
    }

    // Proves P19.3.
    @Test func `Members that left or joined are reported before the replay`() throws {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        let auth = PusherAuth(auth: "k:s", channelData: #"{"user_id":"u1"}"#)
        func success(_ other: String) -> String {
            let members = #"\"hash\":{\"u1\":{},\"\#(other)\":{}},\"ids\":[\"u1\",\"\#(other)\"]"#
            let ids = #"{\"presence\":{\"count\":2,\#(members)},\"attach_serial\":5}"#
            let name = "sockudo_internal:subscription_succeeded"
            return #"{"event":"\#(name)","channel":"presence-r","data":"\#(ids)","stream_id":"s","serial":5}"#
        }
        transcript.subscribe("presence-r", auth: auth)
        transcript.receive(success("u2"))
        let attempt = try #require(transcript.reconnect().authorizations.first)
        transcript.authorize(attempt, auth)
        #expect(transcript.receive(success("u3")).events == ["pusher:member_removed", "pusher:member_added"])
        #expect(transcript.resumed("presence-r").told == ["recovered 0", "success", "subscribed"])
    }

    // Proves P19.3.
    @Test func `A server without recovery is asked for no replay, and a reconnect reports a gap`() {
        var transcript = Transcript.sockudo(attach: nil, serial: nil)
        #expect(transcript.event(1).events == ["e"])
        let outputs = transcript.subscribeAgain(serial: nil, attach: 1)
        #expect(outputs.sent.isEmpty)
        #expect(outputs.told.first == "gap")
    }

    // Proves P19.2, P19.6.
    @Test func `A channel without events asks for a replay from its success on, and an empty replay is a recovery, too`() {
        var transcript = Transcript.sockudo(attach: 5)
        #expect(transcript.subscribeAgain(serial: 7, attach: 7).sent == [.replay(after: 5)])
        #expect(transcript.resumed().told == ["recovered 0", "success", "subscribed"])
    }

    /// An idle channel's stream gets its name with the first event. The server judges a stream of another name, as with versioned
    /// messages the success's is never that of the events.
    // Proves P19.2.
    @Test func `A replay is requested from the stream of the last event, or of an empty channel, from serial 0 of the new one`() {
        var empty = Transcript.sockudo(attach: 0, serial: 0)
        var versioned = empty
        #expect(empty.subscribeAgain(serial: 1, attach: 1, stream: "other").sent == [.replay(after: 0, of: "other")])
        empty.event(1, stream: "other")
        #expect(empty.resumed(upTo: 1, stream: "other").told.first == "1")
        versioned.event(3, stream: "versions")
        #expect(versioned.subscribeAgain(serial: 2, attach: 2).sent == [.replay(after: 3, of: "versions")])
    }

    /// Without a history, events between a success and the server's taking the channel in come only on request.
    // Proves P19.5.
    @Test func `Without a history, the first subscription asks for a replay of events since its success`() {
        var transcript = Transcript.subscribing(to: "room") { $0.protocol = .sockudo }
        let asked = transcript.succeed(serial: 4, attach: nil)
        #expect(asked.sent == [.replay(after: 4)])
        #expect(asked.told.last == "subscribed", "it is told at once: there is no gap to wait for")
        transcript.events(6, 5)
        #expect(transcript.resumed(upTo: 5).told == ["5", "6"], "and not that it was recovered")
    }

    /// As seen with a history, where the server holds what comes meanwhile.
    // Proves P19.7.
    @Test func `An event with the success's own serial is delivered after it, once`() {
        var transcript = Transcript.sockudo(attach: 5)
        #expect(transcript.events(5, 5).told == ["5"])
        #expect(transcript.subscribeAgain(serial: 6, attach: 6).sent == [.replay(after: 5)])
        transcript.events(5, 6)
        #expect(transcript.resumed(upTo: 6).told == ["6", "recovered 1", "success", "subscribed"])
    }

    /// None was ever seen on a real server.
    // Proves P19.2, P19.5.
    @Test func `An event that comes before its channel's success comes with the replay of those before it`() {
        var transcript = Transcript.subscribing(to: "room") { $0.protocol = .sockudo }
        #expect(transcript.event(6).told.isEmpty, "nobody is told yet that the channel is subscribed")
        transcript.succeed(serial: 6, attach: nil)
        transcript.event(7)
        #expect(transcript.resumed(upTo: 7).told == ["7"])
        transcript.reconnect()
        #expect(transcript.event(10).told.isEmpty)
        #expect(transcript.succeed(serial: 10, attach: nil).sent == [.replay(after: 7)])
        transcript.events(8, 9, 10)
        #expect(transcript.resumed(upTo: 10).told == ["8", "9", "10", "recovered 3", "success", "subscribed"])
    }

    /// The server's replay makes no exceptions for who sent them.
    // Proves P19.1.
    @Test func `A client's own events come with a replay of the time after them`() throws {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        transcript.subscribe("private-room", auth: .signed)
        transcript.succeed("private-room", serial: 5, attach: 5)
        transcript.play(.trigger(ClientEvent(name: "client-e", channel: "private-room", data: "mine")))
        let attempt = try #require(transcript.reconnect().authorizations.first)
        transcript.authorize(attempt, .signed)
        transcript.succeed("private-room", serial: 6, attach: 6)
        transcript.receive(
            #"{"event":"client-e","channel":"private-room","data":"mine","stream_id":"s","serial":6,"message_id":"m"}"#)
        #expect(transcript.resumed("private-room", upTo: 6).told == ["mine", "recovered 1", "success", "subscribed"])
    }

    // Proves P19.6, P19.7.
    @Test func `Events of two nodes that arrive out of order are both delivered, each once`() {
        var transcript = Transcript.sockudo(attach: 5)
        #expect(transcript.events(7, 6, 6).told == ["7", "6"], "late, not old")
        transcript.subscribeAgain(serial: 9, attach: 9)
        transcript.events(8, 7, 9)
        #expect(transcript.resumed(upTo: 9).told == ["8", "9"] + away)
    }

    @Test func `Replayed events of an encrypted channel are decrypted`() throws {
        var transcript = Transcript.connected { $0.protocol = .sockudo }
        let auth = PusherAuth(auth: "k:s", sharedSecret: "secret")
        transcript.subscribe("private-encrypted-e", auth: auth)
        transcript.succeed("private-encrypted-e", serial: 1, attach: 1)
        let asked = try #require(transcript.reconnect().authorizations.first)
        transcript.authorize(asked, auth)
        #expect(transcript.succeed("private-encrypted-e", serial: 2, attach: 2).sent.count == 1)
        transcript.event(2, on: "private-encrypted-e")
        let outputs = transcript.resumed("private-encrypted-e", upTo: 2)
        #expect(outputs.contains { if case .command(.decrypt) = $0 { true } else { false } })
    }

    // MARK: Several channels

    // Proves P19.4.
    @Test func `Replays of several channels are requested one at a time, each for fewer than 900 events`() {
        let channels: [Name] = ["a", "b", "c", "d"]
        var transcript = Transcript.sockudo(channels, attach: 0, serial: 0)
        for channel in channels { transcript.event(1, on: channel) }
        transcript.reconnect()
        let place = StreamPosition(stream: "s", serial: 1)
        let sent = zip(channels, [500, 451, 451, 400]).flatMap { transcript.succeed($0, serial: $1, attach: $1).sent }
        #expect(sent == [.resume(["a": place])])
        #expect(transcript.resumed("a").sent == [.resume(["b": place])], "b and c are 900 together")
        #expect(transcript.resumed("a").sent.isEmpty, "a late answer isn't taken for this one")
        #expect(transcript.resumed("b").sent == [.resume(["c": place, "d": place])])
        let outputs = transcript.receive(
            #"{"event":"sockudo:resume_success","data":"{\"failed\":[{\"channel\":\"c\",\"code\":\"stream_reset\"}],\"recovered\":[{\"channel\":\"d\",\"position\":null}]}"}"#
        )
        #expect(outputs.told.contains("gap") && outputs.told.contains("recovered 0"))
    }

    /// Channels that missed nothing are asked for, too, and a request is no larger for ten thousand of them.
    @Test func `A replay request names at most 899 channels, however many wait`() {
        let channels = (0..<1_000).map { Name("c-\($0)") }
        var transcript = Transcript.sockudo(channels, attach: 1, serial: 1)
        transcript.reconnect()
        for channel in channels { transcript.succeed(channel, serial: 1, attach: 1) }
        let sent = transcript.resumed("c-0").sent
        guard case .resume(let positions)? = sent.first else { return #expect(Bool(false), "\(sent)") }
        #expect(positions.count == 899)
    }

    @Test func `A channel unsubscribed during its replay is left out, and its held events are dropped`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.subscribeAgain(serial: 6, attach: 6)
        transcript.event(6)
        #expect(transcript.machine.recovery.heldBytes > 0)
        transcript.unsubscribe("room")
        #expect(transcript.machine.recovery.heldBytes == 0)
        transcript.subscribe("room")
        transcript.succeed(serial: 6, attach: 6)
        #expect(transcript.resumed(upTo: 6).told.isEmpty)
        #expect(transcript.event(7).told == ["7"])
    }

    /// A pool moves a channel to another connection with its place.
    @Test func `A channel moved to another connection asks for a replay from its old position`() throws {
        var first = Transcript.sockudo(attach: 5)
        first.event(6)
        let moved = try #require(first.machine.stateToMove(of: "room", at: first.now))
        var second = Transcript.connected { $0.protocol = .sockudo }
        second.play(.adopt(moved))
        #expect(second.succeed(serial: 7, attach: 7).sent == [.replay(after: 6)])
    }

    // MARK: Missing events

    // Proves P19.12.
    @Test func `A serial that is missing for 300 milliseconds is read from the history`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.events(7, 9)
        transcript.pass(.milliseconds(200))
        #expect(transcript.event(8).told == ["8"])
        #expect(transcript.pass(.milliseconds(100)).sent == [.history(channel: "room", serials: 6...7, cursor: nil)])
        #expect(transcript.history([6, 7]).told == ["6"])
        // A hole that the history has, too, is one that the server means.
        transcript.event(12)
        #expect(transcript.pass(.milliseconds(300)).sent == [.history(channel: "room", serials: 10...12, cursor: nil)])
        #expect(transcript.history([12]).told.isEmpty)
        #expect(transcript.pass(.seconds(2)).sent.isEmpty)
    }

    // Proves P19.12.
    @Test func `A missing serial is read from the history after a reconnect, too, or reported as a gap`() {
        var transcript = Transcript.sockudo(attach: 5)
        transcript.event(7)
        transcript.subscribeAgain(serial: 7, attach: 7)
        transcript.resumed()
        #expect(transcript.pass(.milliseconds(300)).sent == [.history(channel: "room", serials: 6...7, cursor: nil)])
        #expect(transcript.pass(.seconds(30)).told.contains("gap"), "nobody answered")
        #expect(transcript.event(8).told == ["8"])
    }

    // Proves P19.12.
    @Test func `Serials that are too far back to ask for are a gap, once`() {
        var transcript = Transcript.sockudo(attach: 5)
        #expect(transcript.events(1_000, 1_002).told == ["1000", "gap", "1002"])
        #expect(transcript.pass(.milliseconds(300)).sent == [.history(channel: "room", serials: 1_001...1_002, cursor: nil)])
    }

    // Proves P19.12.
    @Test func `Without a history, a missing serial is not asked for`() {
        var transcript = Transcript.sockudo(attach: nil)
        transcript.resumed()
        transcript.event(9)
        #expect(transcript.pass(.seconds(2)).sent.isEmpty)
    }
}

extension [Output] {
    /// What the application is told, in short: an event by its data.
    var told: [String] {
        deliveries.map { delivery in
            switch delivery {
            case .event(let envelope) where envelope.event.begins(with: "pusher:sub"): "success"
            case .event(let envelope): envelope.data ?? ""
            case .gap: "gap"
            case .recovered(_, let count): "recovered \(count)"
            case .subscribed: "subscribed"
            default: "\(delivery)"
            }
        }
    }
}

extension ClientMessage {
    /// The request for what follows this place of the channel `room`.
    static func replay(after serial: Int, of stream: String = "s") -> ClientMessage {
        .resume(["room": StreamPosition(stream: Name(stream), serial: serial)])
    }
}

extension Transcript {
    /// Creates a transcript of a client that has subscribed to these channels on a Sockudo server.
    static func sockudo(
        _ channels: [Name] = ["room"], attach: Int?, serial: Int? = 5,
        _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }
    ) -> Transcript {
        var transcript = Transcript.connected {
            $0.protocol = .sockudo
            change(&$0)
        }
        for channel in channels {
            transcript.subscribe(channel)
            transcript.succeed(channel, serial: serial, attach: attach)
        }
        return transcript
    }

    @discardableResult
    mutating func succeed(_ channel: Name = "room", serial: Int?, attach: Int?, stream: String = "s") -> [Output] {
        let position = serial.map { ",\"stream_id\":\"\(stream)\",\"serial\":\($0)" } ?? ""
        let data = attach.map { #"{\"attach_serial\":\#($0)}"# } ?? "{}"
        return receive(
            #"{"event":"sockudo_internal:subscription_succeeded","channel":"\#(channel)","data":"\#(data)"\#(position)}"#)
    }

    @discardableResult
    mutating func event(_ serial: Int, on channel: Name = "room", stream: String = "s") -> [Output] {
        receive(#"{"event":"e","channel":"\#(channel)","data":"\#(serial)","stream_id":"\#(stream)","serial":\#(serial)}"#)
    }

    @discardableResult
    mutating func events(_ serials: Int...) -> [Output] {
        serials.flatMap { event($0) }
    }

    /// Loses the connection, and subscribes again on the next one; returns what the success brings.
    @discardableResult
    mutating func subscribeAgain(serial: Int?, attach: Int?, stream: String = "s") -> [Output] {
        reconnect()
        return succeed(serial: serial, attach: attach, stream: stream)
    }

    /// Receives the answer that everything was replayed.
    @discardableResult
    mutating func resumed(_ channel: Name = "room", upTo serial: Int? = nil, stream: String = "s") -> [Output] {
        let place = serial.map { #"{\"serial\":\#($0),\"stream_id\":\"\#(stream)\"}"# } ?? "null"
        return receive(
            #"{"event":"sockudo:resume_success","data":"{\"failed\":[],\"recovered\":[{\"position\":\#(place),\"source\":\"hot\",\"channel\":\"\#(channel)\"}]}"}"#
        )
    }

    @discardableResult
    mutating func history(
        _ serials: [Int], cursor: String? = nil, complete: Bool = true, isTruncated: Bool? = nil, stream: String = "s",
        of channel: Name = "room", to asker: Name = "room", bounds: ClosedRange<Int>? = nil
    ) -> [Output] {
        let items = serials.map {
            #"{"serial":\#($0),"message":{"event":"e","channel":"\#(channel)","data":"\#($0)","stream_id":"\#(stream)","serial":\#($0)}}"#
        }
        let next = cursor.map { "\"\($0)\"" } ?? "null"
        let asked = bounds.map { #""bounds":{"start_serial":\#($0.lowerBound),"end_serial":\#($0.upperBound)},"# } ?? ""
        return receive(
            #"{"event":"sockudo:channel_history","channel":"\#(asker)","data":{\#(asked)"items":[\#(items.joined(separator: ","))],"has_more":\#(cursor != nil),"next_cursor":\#(next),"continuity":{"complete":\#(complete),"truncated_by_retention":\#(isTruncated ?? !complete)}}}"#
        )
    }
}
