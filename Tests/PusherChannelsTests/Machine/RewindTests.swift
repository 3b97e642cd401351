import TestSupport
import Testing

@testable import PusherChannels

/// A channel of a Sockudo server that begins with its past, or shows only some of its events.
@Suite struct RewindTests {
    private let filter = SubscriptionOptions(filter: .events("placed", "cancelled"))

    private func client(_ protocol: PusherProtocol = .sockudo) -> Transcript {
        Transcript.connected { $0.protocol = `protocol` }
    }

    /// A channel whose subscription succeeded at serial 5, with 100 events asked for.
    private func rewinding() -> Transcript {
        var transcript = client()
        transcript.subscribe("room", options: SubscriptionOptions(rewind: .events(100)))
        transcript.succeed(serial: 5, attach: 5)
        return transcript
    }

    private func filtered(attach: Int? = 5) -> Transcript {
        var transcript = client()
        transcript.subscribe("room", options: filter)
        transcript.succeed(serial: 5, attach: attach)
        return transcript
    }

    // MARK: Asking

    // Proves P19.17.
    @Test(
        arguments: [
            (SubscriptionOptions(rewind: .events(2)), #""rewind":2"#),
            (SubscriptionOptions(rewind: .time(.seconds(60))), #""rewind":{"seconds":60}"#),
            (SubscriptionOptions(rewind: .time(.milliseconds(1))), #""rewind":{"seconds":1}"#),
            (SubscriptionOptions(rewind: .time(.seconds(Int64.max))), #""rewind":{"seconds":315360000}"#),
            (SubscriptionOptions(filter: .events("yes")), #""filter":{"events":["yes"]}"#),
            (
                SubscriptionOptions(filter: SubscriptionFilter(events: Array(repeating: "a", count: 50))),
                #""filter":{"events":[\#(Array(repeating: "\"a\"", count: 50).joined(separator: ","))]}"#
            ),
            (SubscriptionOptions(filter: .tags(.equal("k", "v"))), #""filter":{"cmp":"eq","key":"k","val":"v"}"#),
            (
                SubscriptionOptions(
                    rewind: .events(1),
                    filter: SubscriptionFilter(events: ["a"], tags: .all(.isIn("k", ["v", "w"]), .not(.any(.exists("x")))))),
                #""rewind":1,"filter":{"events":["a"],"tags":{"nodes":[{"cmp":"in","key":"k","vals":["v","w"]},{"nodes":[{"nodes":[{"cmp":"ex","key":"x"}],"op":"or"}],"op":"not"}],"op":"and"}}"#
            ),
        ])
    func `A rewind and a filter are asked for as the server reads them`(options: SubscriptionOptions?, members: String) {
        var transcript = client()
        let sent = transcript.subscribe("room", options: options).sent.map(EnvelopeEncoder.encode)
        #expect(sent == [#"{"event":"pusher:subscribe","data":{"channel":"room",\#(members)}}"#])
        #expect(sent.allSatisfy { JSONValue(ifJSON: $0) != nil })
        let authorized = transcript.subscribe("private-room", auth: .signed, options: options).sent
        #expect(authorized == [.subscribe(channel: "private-room", auth: "k:s", channelData: nil, options: options)])
    }

    // Proves P19.17.
    @Test(
        arguments: [
            (PusherProtocol.pusher, SubscriptionOptions(rewind: .events(1)), "PusherClientOptions.protocol"),
            (.pusher, SubscriptionOptions(filter: .events("a")), "PusherClientOptions.protocol"),
            (.sockudo, SubscriptionOptions(rewind: .events(0)), "at least one event"),
            (.sockudo, SubscriptionOptions(rewind: .time(.seconds(-1))), "a time above zero"),
            (.sockudo, SubscriptionOptions(filter: SubscriptionFilter(events: [])), "this one names 0"),
            (
                .sockudo, SubscriptionOptions(filter: SubscriptionFilter(events: Array(repeating: "a", count: 51))),
                "this one names 51"
            ),
        ])
    func `What no server takes is refused, not sent`(spoken: PusherProtocol, options: SubscriptionOptions?, words: String) {
        var transcript = client(spoken)
        let outputs = transcript.subscribe("room", options: options)
        #expect(outputs.sent.isEmpty)
        #expect(outputs.failures.map(\.kind) == [.invalidRequest])
        #expect(outputs.failures.allSatisfy { $0.message.contains(words) && !$0.isRetryable })
        #expect(transcript.machine.subscriptions.isEmpty)
        // Those who have the channel don't hear of it.
        transcript.subscribe("room")
        #expect(transcript.subscribe("room", options: options).withoutLogs.isEmpty)
    }

    // Proves P19.17.
    @Test func `A refused channel is asked for with what the next request says`() {
        var transcript = client()
        transcript.subscribe("room", options: SubscriptionOptions(rewind: .events(1)))
        transcript.deny()
        let again = transcript.subscribe("room", options: filter).sent
        #expect(again == [.subscribe(channel: "room", auth: nil, channelData: nil, options: filter)])
        transcript.succeed(serial: 5, attach: 5)
        // One that was subscribed has a gap or a replay, and no past.
        transcript.receiveRefusal(of: "room")
        let later = transcript.subscribe("room", options: SubscriptionOptions(rewind: .events(1))).sent
        #expect(later == [.subscription(to: "room")])
    }

    // MARK: The past

    // Proves P19.18.
    @Test func `A rewound event comes before live ones, whatever the order on the wire`() {
        var transcript = rewinding()
        #expect(transcript.events(4, 7, 6, 5, 5).told == ["4", "5"])
        let cached = transcript.receive(#"{"event":"e","channel":"room","data":"cached","message_id":"m"}"#)
        #expect(cached.told == ["cached"], "it has no place to wait for")
        let end = transcript.rewound()
        #expect(end.events == ["sockudo:rewind_complete", "e", "e"])
        #expect(end.told.suffix(2) == ["6", "7"])
        #expect(transcript.events(7, 8).told == ["8"])
        #expect(transcript.pass(.seconds(60)).told.isEmpty, "nothing is awaited, and nothing missing")
    }

    // Proves P19.18.
    @Test func `The next connection rewinds a subscription that never succeeded; else it replays what was missed`() {
        var transcript = rewinding()
        transcript.events(4, 5)
        transcript.rewound()
        #expect(transcript.reconnect().sent == [.subscription(to: "room")])
        #expect(transcript.succeed(serial: 6, attach: 6).sent == [.replay(after: 5)])
        transcript.event(6)
        #expect(transcript.resumed(upTo: 6).told.prefix(2) == ["6", "recovered 1"])
        var asking = client()
        let asked = asking.subscribe("room", options: SubscriptionOptions(rewind: .events(100))).sent
        #expect(asking.reconnect().sent == asked)
    }

    // Proves P19.18.
    @Test func `A past from far back is no reason for a gap`() {
        var transcript = client()
        transcript.subscribe("room", options: SubscriptionOptions(rewind: .time(.seconds(60))))
        transcript.succeed(serial: 5_000, attach: 5_000)
        for serial in 1...100 { #expect(transcript.event(serial).told == ["\(serial)"]) }
        transcript.rewound()
        #expect(transcript.subscribeAgain(serial: 5_000, attach: 5_000).sent == [.replay(after: 5_000)])
    }

    /// As a server with versioned messages sends the past, with each event's name beside it.
    // Proves P19.18.
    @Test func `A past of versioned messages is told in the order in which it comes`() {
        var transcript = rewinding()
        let outputs = [5, 4].flatMap { serial in
            transcript.receive(
                #"{"event":"sockudo:message.create","name":"e","channel":"room","data":"\#(serial)","stream_id":"s","serial":\#(serial)}"#
            )
        }
        #expect(outputs.events == ["sockudo:message.create", "sockudo:message.create"])
        #expect(outputs.told == ["5", "4"])
        #expect(transcript.rewound().gaps.isEmpty)
    }

    // Proves P19.18.
    @Test func `Without numbered events the past is told as it comes`() {
        var transcript = client()
        transcript.subscribe("room", options: SubscriptionOptions(rewind: .events(2)))
        transcript.succeed(serial: nil, attach: 2)
        #expect(transcript.events(2, 3).told == ["2", "3"])
        #expect(transcript.rewound().events == ["sockudo:rewind_complete"])
    }

    // Proves P19.18.
    @Test func `An encrypted channel's end of the past isn't decrypted`() {
        var transcript = client()
        let auth = PusherAuth(auth: "k:s", sharedSecret: "secret")
        transcript.subscribe("private-encrypted-e", auth: auth, options: SubscriptionOptions(rewind: .events(2)))
        transcript.succeed("private-encrypted-e", serial: 5, attach: 5)
        #expect(transcript.rewound("private-encrypted-e").events == ["sockudo:rewind_complete"])
    }

    // Proves P19.19.
    @Test func `A past that doesn't end in time is a gap, and live events go on`() {
        var transcript = rewinding()
        transcript.events(4, 6)
        #expect(transcript.pass(.milliseconds(29_999)).told.isEmpty)
        #expect(transcript.pass(.milliseconds(1)).told == ["gap", "6"])
        #expect(transcript.events(7, 5).told == ["7", "5"], "one late")
    }

    // Proves P19.19.
    @Test func `A past that is cut off is a gap`() {
        var transcript = rewinding()
        transcript.events(4, 6)
        let again = transcript.subscribeAgain(serial: 6, attach: 6)
        #expect(again.sent.isEmpty, "a replay wouldn't have it")
        #expect(again.told == ["gap", "success", "subscribed"])
        #expect(transcript.machine.recovery.heldBytes == 0)
        #expect(transcript.subscribeAgain(serial: 7, attach: 7).sent.count == 1)
    }

    // Proves P19.14, P19.18.
    @Test func `What is held while the past comes is bounded`() {
        var transcript = Transcript.connected { ($0.protocol, $0.heldEventByteLimit) = (.sockudo, 100) }
        transcript.subscribe("room", options: SubscriptionOptions(rewind: .events(100)))
        transcript.succeed(serial: 5, attach: 5)
        #expect(transcript.events(6, 7).told.first == "gap")
    }

    // MARK: Refusals

    // Proves P19.20.
    @Test(arguments: [
        "Channel error: Channel rewind is disabled by policy for channel 'room'",
        "Invalid message format: Invalid tags filter: Leaf node requires a comparison operator",
    ]) func `A refusal without a channel is that of the only one which asked for more`(words: String) {
        var transcript = client()
        for channel: Name in ["a", "b"] { transcript.subscribe(channel) }
        transcript.subscribe("room", options: filter)
        #expect(transcript.deny("something else").failures.isEmpty)
        #expect(transcript.deny(words).failures == [PusherError(.subscriptionRefused, code: 4000, message: words)])
        #expect(transcript.machine.subscriptions["room"]?.state == .failed)
        #expect(transcript.succeed("a", serial: 1, attach: 1).told.contains("subscribed"))
    }

    // Proves P19.20.
    @Test func `Of two that asked for more, neither is refused until it is clear which one was`() {
        var transcript = client()
        transcript.subscribe("private-undone", auth: PusherAuth(auth: "k:s"))
        transcript.unsubscribe("private-undone")
        for channel: Name in ["a", "b"] { transcript.subscribe(channel, options: filter) }
        #expect(transcript.deny("no such filter").failures.isEmpty)
        transcript.succeed("a", serial: 1, attach: 1)
        #expect(transcript.deny("no such filter").failures.map(\.message) == ["no such filter"], "it is the only one now")
    }

    // MARK: Filters

    // Proves P19.21.
    @Test func `With a filter a hole isn't missing, and nothing is read from the history, which would show what it hides`() {
        var transcript = filtered()
        #expect(transcript.event(9).told == ["9"])
        #expect(transcript.pass(.seconds(2)).sent.isEmpty)
        let again = transcript.subscribeAgain(serial: 5_000, attach: 5_000)
        #expect(again.sent.isEmpty)
        #expect(again.told == ["gap", "success", "subscribed"])
        transcript.subscribeAgain(serial: 5_010, attach: 5_010)
        let refused = transcript.receive(
            #"{"event":"sockudo:resume_success","data":"{\"recovered\":[],\"failed\":[{\"channel\":\"room\",\"code\":\"position_expired\"}]}"}"#
        )
        #expect(refused.sent.isEmpty)
        #expect(refused.told.first == "gap")
    }

    // Proves P19.21.
    @Test func `What a filter hid is not asked for again`() {
        var transcript = filtered()
        let again = transcript.subscribeAgain(serial: 90, attach: 90)
        #expect(again.sent == [.replay(after: 5)])
        transcript.event(7)
        #expect(transcript.resumed(upTo: 90).told == ["7", "recovered 1", "success", "subscribed"])
        #expect(transcript.subscribeAgain(serial: 95, attach: 95).sent == [.replay(after: 90)])
    }

    // Proves P19.17, P19.21.
    @Test func `A filter is asked for on every connection, also after a stored position and on another client`() throws {
        let request = ClientMessage.subscribe(channel: "room", auth: nil, channelData: nil, options: filter)
        var transcript = filtered()
        #expect(transcript.reconnect().sent == [request])
        let moved = try #require(transcript.machine.stateToMove(of: "room", at: transcript.now))
        var other = client()
        #expect(other.play(.adopt(moved)).sent == [request])
        var next = client()
        let stored = StreamPosition(stream: "s", serial: 6)
        #expect(next.play(.subscribe(channel: "room", auth: nil, after: stored, options: filter)).sent == [request])
        #expect(next.succeed(serial: 8, attach: 8).sent == [.resume(["room": stored])])
    }
}

extension Transcript {
    @discardableResult
    fileprivate mutating func rewound(_ channel: Name = "room") -> [Output] {
        receive(#"{"event":"sockudo:rewind_complete","channel":"\#(channel)","data":{"historical_count":2,"complete":false}}"#)
    }

    /// Receives an error without a channel, as the server sends for rewinds and filters.
    @discardableResult
    fileprivate mutating func deny(_ words: String = "Invalid tags filter") -> [Output] {
        receive(#"{"event":"sockudo:error","data":{"code":4000,"message":"\#(words)"}}"#)
    }
}
