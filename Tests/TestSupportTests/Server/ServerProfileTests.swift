import Foundation
import TestSupport
import Testing

/// What the steps of `ci/checks/profiles` can't show, which compare each profile with the real server's transcript.
struct ServerProfileTests {
    private func rig(_ profile: ServerProfile) -> ServerRig {
        ServerRig(ServerMachine(profile: profile, socketIDs: ["1.2", "3.4"]), open: 2)
    }

    @Test func `A profile's answer also covers special cases without an answer of their own`() {
        var profile = ServerProfile.hosted
        profile.answers = [.unreadable: .error("Not JSON", code: 1), .notAnObject: .error("Not an object: {reason}", code: 2)]
        func error(_ message: String) -> String? {
            var rig = rig(profile)
            rig.receive(message, from: 1)
            return rig.error.map { "\($0.code ?? 0) \($0.message ?? "")" }
        }
        #expect(error("hello") == "1 Not JSON")
        #expect(error("") == "1 Not JSON")
        #expect(error("[1]") == "2 Not an object: Invalid JSON")
        #expect(error("{}") == "0 Message without an event", "the hosted service's")
    }

    /// Until it is started again.
    @Test func `The soketi profile closes every connection after a subscription without data`() {
        var rig = rig(.soketi)
        rig.receive(#"{"event":"pusher:subscribe"}"#, from: 1)
        let reason = "Server is closing. Please reconnect shortly."
        let error = #"{"event":"pusher:error","data":{"code":4200,"message":"\#(reason)"}}"#
        #expect(rig.sent == ["1: \(error)", "2: \(error)"])
        #expect(rig.closes == ["1: 4200 \(reason)", "2: 4200 \(reason)"])
        rig.open(3)
        #expect(rig.sent == ["3: \(error)"])
        #expect(rig.closes == ["3: 4200 \(reason)"])
    }

    @Test func `The pusher-fake profile ends and forgets everything at a message that is not JSON`() {
        var rig = rig(.pusherFake)
        rig.subscribe(1, to: "cache-a")
        rig.publish("cache-a", "e", "1")
        rig.receive("hello", from: 2)
        #expect(rig.sent.isEmpty, "nobody is told that others left")
        #expect(rig.closes == ["1: 1006 ", "2: 1006 "])
        rig.open(3)
        rig.subscribe(3, to: "cache-a")
        #expect(rig.sent.last?.contains("cache_miss") == true, "\(rig.sent)")
    }

    /// No frame has the code of an end without one (RFC 6455, 7.4.1).
    @Test(arguments: [PusherProtocol.pusher, .sockudo])
    func `An in-memory client sees an end without a close frame as a lost connection`(spoken: PusherProtocol) throws {
        let scheduler = TestScheduler()
        let server = InMemoryServer(ServerMachine(apps: [], profile: .sockudoV2), scheduler: scheduler)
        let pusher = Pusher(
            key: "nobodys", options: PusherClientOptions(protocol: spoken, delivery: .immediate),
            environment: PusherEnvironment(
                scheduler: scheduler, httpSession: MockSession(), makeWebSocket: { server.makeWebSocket() }, randomSeed: { 1 }))
        let recorder = RecordingDelegate(of: pusher)
        pusher.connect()
        #expect(try #require(recorder.errors.first).kind == .transport(.connectionLost))
    }

    @Test func `After two minutes of silence, a profile keeps the client or closes it with 4201 or 1000`() {
        let ends = ServerProfile.byName.map { _, profile -> [String] in
            var rig = rig(profile)
            rig.now = .seconds(120)
            rig.handle(.timePassed)
            return rig.closes.filter { $0.hasPrefix("1") }
        }
        #expect(Set(ends) == [[], ["1: 4201 Pong reply not received"], ["1: 1000 Closed after inactivity"]])
    }

    @Test func `A stopped server closes its clients with the code and message of its profile`() {
        func end(_ profile: ServerProfile) -> [String] {
            var rig = rig(profile)
            rig.shutdown()
            return (rig.closes + rig.sent).filter { $0.hasPrefix("1") }
        }
        #expect(end(.hosted) == ["1: 1001 Server stopped"])
        let reason = "Server is closing. Please reconnect shortly."
        #expect(
            end(.soketi) == ["1: 4200 \(reason)", #"1: {"event":"pusher:error","data":{"code":4200,"message":"\#(reason)"}}"#])
    }

    @Test func `Every profile but hosted says when the imitated server was recorded`() {
        for (name, profile) in ServerProfile.byName where name != "hosted" {
            #expect(profile.about.contains("2026"), "\(name)")
        }
    }

    @Test func `A webhook's client data and time have the form of the server's profile`()
        throws
    {
        func body(_ profile: ServerProfile) throws -> String {
            var app = ServerApp.local
            app.webhooks = [ServerApp.WebhookEndpoint("http://127.0.0.1/", kinds: [.clientEvent])]
            var rig = ServerRig(ServerMachine(apps: [app], profile: profile), open: 1)
            rig.subscribe(1, to: "private-a")
            rig.receive(#"{"event":"client-a","channel":"private-a","data":{"x":1}}"#, from: 1)
            var webhooks = rig.webhooks
            if webhooks.isEmpty {
                rig.now = .seconds(10)
                rig.handle(.timePassed)
                webhooks = rig.webhooks
            }
            return try #require(webhooks.first).body(at: Date(timeIntervalSince1970: 5.25))
        }
        #expect(try body(.pylon).contains(#""data":{"x":1}"#))
        #expect(try body(.hosted).contains(#""data":"{\"x\":1}""#))
        #expect(try body(.hosted).contains(#""time_ms":5250"#))
        #expect(try body(.ipe).contains(#""time_ms":5}"#))
    }
}

/// What subscribers of Sockudo's protocol V2 may ask for.
struct SockudoSubscriptionTests {
    @Test func `By time the oldest page comes, by number the latest`() {
        var rig = ServerRig(ServerMachine(profile: .sockudoV2))
        for number in 0..<130 { rig.post(#"{"name":"e","data":"\#(number)","channel":"rwbig"}"#) }
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"rwbig","rewind":{"seconds":600}}}"#, from: 1)
        #expect(rig.sent.count == 102)
        #expect(rig.sent[1].contains(#""serial":1}"#) && rig.sent[100].contains(#""serial":100}"#), "101 to 130 are missing")
        #expect(rig.sent[101].contains(#""truncated_by_limit":true"#))
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"rwbig","rewind":600}}"#, from: 1)
        #expect(rig.sent[1].contains(#""serial":31}"#) && rig.sent[100].contains(#""serial":130}"#))
    }

    @Test func `A replay that loses or repeats events, or is asked for too soon, is told in a notice`() {
        var profile = ServerProfile.sockudoV2
        profile.sockudoV2?.replaysUnsubscribed = true
        profile.sockudoV2?.answerDelay = .seconds(1)
        var rig = ServerRig(ServerMachine(profile: profile))
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"a"}}"#, from: 1)
        rig.post(#"{"name":"e","data":"x","channel":"a"}"#)
        func doubts(_ channel: String) -> [String] {
            rig.receive(#"{"event":"sockudo:resume","data":{"channel_positions":{"\#(channel)":{"serial":0}}}}"#, from: 1)
            return rig.effects.compactMap { if case .notice(.doubtfulReplay(_, let reason)) = $0 { reason } else { nil } }
        }
        let early = "before the answer to the last one"
        #expect(doubts("a") == [])
        #expect(doubts("a") == [early])
        rig.now = .seconds(1)
        rig.handle(.timePassed)
        #expect(doubts("a") == ["for a from a place that was replayed"])
        #expect(doubts("b") == [early, "for b, to which it isn't subscribed"])
    }

    @Test func `A position in the old form is replayed from the buffer only, another one from the history, too`() throws {
        var profile = ServerProfile.sockudoV2
        profile.sockudoV2?.bufferLifetime = .seconds(1)
        var rig = ServerRig(ServerMachine(profile: profile))
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"a"}}"#, from: 1)
        rig.post(#"{"name":"e","data":"x","channel":"a"}"#)
        let event = try JSONValue(parsing: String(try #require(rig.sent.first).dropFirst(3)))
        let stream = try #require(event["stream_id"]?.stringValue)
        func answer(_ positions: String) -> [String] {
            rig.receive(#"{"event":"sockudo:resume","data":{\#(positions)}}"#, from: 1)
            return rig.sent
        }
        let (old, new) = (#""channel_serials":{"a":0}"#, #""channel_positions":{"a":{"serial":0,"stream_id":"\#(stream)"}}"#)
        for form in [old, new] {
            let sent = answer(form)
            #expect(sent.count == 2 && sent[1].contains(#"\"source\":\"hot\""#), "\(sent)")
        }
        rig.now = .seconds(2)
        #expect(answer(old)[0].contains("continuity_unverifiable"))
        let sent = answer(new)
        #expect(sent.count == 2 && sent[1].contains(#"\"source\":\"cold\""#), "\(sent)")
    }

    @Test(arguments: [(0, #"\"reason\":\"recovery_window_exceeded\""#), (1, #"\"replayed\":10"#)])
    func `More events than the buffer takes are expired, though the history has them`(serial: Int, words: String) throws {
        var profile = ServerProfile.sockudoV2
        profile.sockudoV2?.bufferLength = 10
        var rig = ServerRig(ServerMachine(profile: profile))
        for _ in 0..<11 { rig.publish("a", "e", "x") }
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"a"}}"#, from: 1)
        let success = try JSONValue(parsing: String(try #require(rig.sent.first).dropFirst(3)))
        let stream = try #require(success["stream_id"]?.stringValue)
        let position = #"{"serial":\#(serial),"stream_id":"\#(stream)"}"#
        rig.receive(#"{"event":"sockudo:resume","data":{"channel_positions":{"a":\#(position)}}}"#, from: 1)
        #expect(rig.sent.last?.contains(words) == true, "\(rig.sent)")
    }

    @Test(arguments: [(0, 0, ["1: 1006 "]), (1, 1_000, [])] as [(Int, Int, [String])])
    func `A replay of a thousand events ends the connection, and one of 999 is sent`(serial: Int, frames: Int, closes: [String]) {
        var profile = ServerProfile.sockudoV2
        profile.sockudoV2?.bufferLength = 5_000
        var rig = ServerRig(ServerMachine(profile: profile))
        for _ in 0..<1_000 { rig.publish("a", "e", "x") }
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"a"}}"#, from: 1)
        rig.receive(#"{"event":"sockudo:resume","data":{"channel_positions":{"a":{"serial":\#(serial)}}}}"#, from: 1)
        #expect(rig.sent.count == frames)
        #expect(rig.closes == closes)
    }

    @Test func `Without a history nothing is rewound, and the words are recorded ones`() {
        var profile = ServerProfile.sockudoV2
        profile.sockudoV2?.historyLength = nil
        var rig = ServerRig(ServerMachine(profile: profile))
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"x","rewind":3}}"#, from: 1)
        #expect(rig.error?.message == "Channel error: Channel rewind is disabled by policy for channel 'x'")
        #expect(rig.error?.code == 4300)
    }

    @Test(
        arguments: [
            (#"{"key":"n","cmp":"gt","val":"1"}"#, true), (#"{"key":"n","cmp":"lte","val":1}"#, false),
            (#"{"key":"n","cmp":"neq","val":"2"}"#, false), (#"{"key":"x","cmp":"neq","val":"2"}"#, true),
            (#"{"key":"n","cmp":"in","vals":["1","2"]}"#, true), (#"{"key":"n","cmp":"nin","vals":["1","2"]}"#, false),
            (#"{"key":"x","cmp":"nin","vals":["1"]}"#, true), (#"{"key":"n","cmp":"ex"}"#, true),
            (#"{"key":"n","cmp":"nex"}"#, false),
            (#"{"key":"w","cmp":"sw","val":"ab"}"#, true), (#"{"key":"w","cmp":"ew","val":"bc"}"#, true),
            (#"{"key":"w","cmp":"ct","val":"b"}"#, true), (#"{"key":"w","cmp":"ct","val":"d"}"#, false),
            (#"{"key":"w","cmp":"gte","val":"1"}"#, false), (#"{"key":"n","cmp":"gte","val":"2"}"#, true),
            (#"{"key":"n","cmp":"lt","val":"2"}"#, false),
            (#"{"op":"and","nodes":[{"key":"n","cmp":"ex"},{"key":"x","cmp":"ex"}]}"#, false),
            (#"{"op":"or","nodes":[{"key":"n","cmp":"ex"},{"key":"x","cmp":"ex"}]}"#, true),
            (#"{"op":"not","nodes":[{"key":"x","cmp":"ex"}]}"#, true),
            (#"{"events":["e"],"tags":{"key":"n","cmp":"ex"}}"#, true),
            (#"{"events":["f"],"tags":{"key":"n","cmp":"ex"}}"#, false),
        ]) func `A filter shows what meets its conditions`(filter: String, isShown: Bool)
    {
        var rig = ServerRig(ServerMachine(profile: .sockudoV2))
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"tg","filter":\#(filter)}}"#, from: 1)
        rig.post(#"{"name":"e","data":"x","channel":"tg","tags":{"n":"2","w":"abc"}}"#)
        #expect(rig.sent.count == (isShown ? 1 : 0))
    }

    @Test(
        arguments: [
            (#"{"key":"","cmp":"ex"}"#, "Leaf node requires a non-empty key"),
            (#"{"key":"k","cmp":"in"}"#, "in operation requires at least one value in vals"),
            (#"{"key":"k","cmp":"eq","val":""}"#, "eq operation requires a non-empty val"),
            (#"{"op":"or","nodes":[]}"#, "or operation requires at least one child node"),
            (#"{"op":"not","nodes":[]}"#, "not operation requires exactly one child node, got 0"),
            (
                #"{"op":"and","nodes":[{"key":"k","cmp":"ex"},{"key":"k"}]}"#,
                "Child node 1: Leaf node requires a comparison operator"
            ),
        ]) func `A condition that makes no sense is refused, in the server's words`(filter: String, words: String)
    {
        var rig = ServerRig(ServerMachine(profile: .sockudoV2))
        rig.open(1, path: "/app/local-key?protocol=2")
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"tg","filter":\#(filter)}}"#, from: 1)
        #expect(rig.error?.message == "Invalid message format: Invalid tags filter: " + words)
    }
}

extension ServerRig {
    /// Publishes as a backend does.
    mutating func post(_ body: String) {
        let status = respond(to: .signed("POST", "/apps/1/events", body: body)).status
        #expect(status == 200)
    }
}
