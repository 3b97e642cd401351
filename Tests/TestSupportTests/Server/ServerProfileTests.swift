import Foundation
import TestSupport
import Testing

/// What the steps of `ci/checks/profiles` can't show, which compare each profile with the real server's transcript.
struct ServerProfileTests {
    /// An answer that the profile hasn't is the hosted service's.
    @Test(arguments: [
        ("hello", "1 Not JSON"), ("", "1 Not JSON"), ("[1]", "2 Not an object: Invalid JSON"),
        ("{}", "0 Message without an event"),
    ])
    func `A profile's answer also covers special cases without an answer of their own`(message: String, answer: String) {
        var rig = ServerRig(.hosted, open: 1) {
            $0.answers = [.unreadable: .error("Not JSON", code: 1), .notAnObject: .error("Not an object: {reason}", code: 2)]
        }
        rig.receive(message, from: 1)
        #expect(rig.error.map { "\($0.code ?? 0) \($0.message ?? "")" } == answer)
    }

    /// Until it is started again.
    @Test func `The soketi profile closes every connection after a subscription without data`() {
        var rig = ServerRig(.soketi, open: 2)
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
        var rig = ServerRig(.pusherFake, open: 2, app: { $0.webhooks = [.init("http://a", kinds: [.channelVacated])] })
        rig.subscribe(1, to: "cache-a")
        rig.publish("cache-a", "e", "1")
        rig.receive("hello", from: 2)
        #expect(rig.sent.isEmpty, "nobody is told that others left")
        #expect(rig.closes == ["1: 1006 ", "2: 1006 "])
        rig.wait(until: .seconds(10))
        #expect(rig.webhooks == [])
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
            var rig = ServerRig(profile, open: 1)
            rig.wait(until: .seconds(120))
            return rig.closes
        }
        #expect(Set(ends) == [[], ["1: 4201 Pong reply not received"], ["1: 1000 Closed after inactivity"]])
    }

    @Test func `A stopped server closes its clients with the code and message of its profile`() {
        func end(_ profile: ServerProfile) -> [String] {
            var rig = ServerRig(profile, open: 1)
            rig.shutdown()
            return rig.closes + rig.sent
        }
        #expect(end(.hosted) == ["1: 1001 Server stopped"])
        let reason = "Server is closing. Please reconnect shortly."
        #expect(
            end(.soketi) == ["1: 4200 \(reason)", #"1: {"event":"pusher:error","data":{"code":4200,"message":"\#(reason)"}}"#])
    }

    @Test func `Every profile limits the messages that may wait, and says when the server was recorded, but for hosted`() {
        for (name, profile) in ServerProfile.byName {
            #expect(profile.maximumWaitingMessages != nil, "\(name)")
            #expect(profile.about.contains("2026") == (name != "hosted"), "\(name)")
        }
    }

    @Test(
        arguments: [
            (.pylon, #"{"x":1}"#, #""data":{"x":1}"#), (.hosted, #"{"x":1}"#, #""data":"{\"x\":1}""#),
            (.ipe, #"{"x":1}"#, #""data":{"x":1}"#), (.ipe, #""s""#, #""data":"s""#),
            (.pusherFake, #"{"x":1}"#, #""data":"{\"x\":1}""#), (.pusherFake, #""s""#, #""data":"\"s\"""#),
            (.hosted, "1", #""time_ms":5250"#), (.ipe, "1", #""time_ms":5}"#),
        ] as [(ServerProfile, String, String)])
    func `A webhook's client data and time have the form of the server's profile`(
        profile: ServerProfile, data: String, part: String
    ) throws {
        var rig = ServerRig(
            profile, open: 1,
            app: { $0.webhooks = [ServerApp.WebhookEndpoint("http://127.0.0.1/", kinds: [.clientEvent])] })
        rig.subscribe(1, to: "private-a")
        rig.receive(#"{"event":"client-a","channel":"private-a","data":\#(data)}"#, from: 1)
        if rig.webhooks.isEmpty { rig.wait(until: .seconds(10)) }
        #expect(try #require(rig.webhooks.first).body(at: Date(timeIntervalSince1970: 5.25)).contains(part))
    }
}

extension ServerProfileTests {
    @Test func `A refusal of the HTTP API is JSON whatever the name that it quotes`() throws {
        var rig = ServerRig(.sockudo)
        let refusal = rig.post(#"{"name":"e","channel":"a\"{wrong}","data":"x"}"#)
        #expect(refusal.status == 400)
        #expect(try JSONValue(parsing: refusal.text)["error"]?.stringValue?.contains(#"'a"{wrong}'"#) == true, "\(refusal.text)")
    }
}

/// What subscribers of Sockudo's protocol V2 may ask for.
struct SockudoSubscriptionTests {
    /// Returns a server with events on the channel `a`, one of whose connections is subscribed to it.
    private func rig(
        afterEvents count: Int = 0, rewind: String? = nil, filter: String? = nil,
        _ change: (inout ServerProfile.SockudoV2) -> Void = { _ in }
    ) -> ServerRig {
        var settings = ServerProfile.sockudoV2.sockudoV2 ?? .init()
        change(&settings)
        var rig = ServerRig(.sockudoV2) { $0.sockudoV2 = settings }
        for _ in 0..<count { rig.publish("a", "e", "x") }
        rig.open(1, path: "/app/local-key?protocol=2")
        let options = [rewind.map { #","rewind":\#($0)"# }, filter.map { #","filter":\#($0)"# }].compactMap(\.self).joined()
        rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"a"\#(options)}}"#, from: 1)
        return rig
    }

    @Test(arguments: ["protocol=1", "protocol=3", "protocol=7", "protocol=8", "protocol=255", "client=x"])
    func `Any other number than two, or none, is protocol 7 to a Sockudo server`(query: String) {
        var rig = ServerRig(.sockudoV2)
        rig.open(1, path: "/app/local-key?" + query)
        #expect(rig.frames.map { $0["event"] } == ["pusher:connection_established"])
    }

    @Test func `Members who speak V2 are told in its names of one whom the backend disconnects, who gets V1's error`() {
        var rig = ServerRig(.sockudoV2)
        for (number, user) in [(1, "ann"), (2, "bob")] {
            rig.open(number, path: "/app/local-key?protocol=2")
            rig.signIn(number, as: user)
            rig.subscribe(number, to: "presence-a", as: user)
        }
        rig.post("{}", to: "users/bob/terminate_connections")
        #expect(rig.frames.map { $0["event"] } == ["pusher:error", "sockudo_internal:member_removed"])
        #expect(rig.sent.map { $0.prefix(2) } == ["2:", "1:"])
    }

    @Test(
        arguments: [
            (#"{"seconds":600}"#, 1...100), (#"{"duration_seconds":600}"#, 1...100), ("600", 31...130),
            (#"{"count":600}"#, 31...130),
            (#""600""#, 31...130), (#"{"count":1}"#, 130...130),
        ])
    func `By time the oldest page comes, by number the latest`(rewind: String, serials: ClosedRange<Int>) {
        let rig = rig(afterEvents: 130, rewind: rewind)
        #expect(rig.frames.dropFirst().compactMap { $0["serial"]?.integerValue } == Array(serials))
        #expect(rig.sent.last?.contains(#""truncated_by_limit":true"#) == true)
    }

    @Test func `A replay that loses or repeats events, or is asked for too soon, is told in a notice`() {
        var rig = rig { ($0.replaysUnsubscribed, $0.answerDelay) = (true, .seconds(1)) }
        rig.post(#"{"name":"e","data":"x","channel":"a"}"#)
        func doubts(_ channel: String) -> [String] {
            rig.receive(#"{"event":"sockudo:resume","data":{"channel_positions":{"\#(channel)":{"serial":0}}}}"#, from: 1)
            return rig.effects.compactMap { if case .notice(.doubtfulReplay(_, let reason)) = $0 { reason } else { nil } }
        }
        let early = "before the answer to the last one"
        #expect(doubts("a") == [])
        #expect(doubts("a") == [early])
        rig.wait(until: .seconds(1))
        #expect(doubts("a") == ["for a from a place that was replayed"])
        #expect(doubts("b") == [early, "for b, to which it isn't subscribed"])
    }

    @Test func `A position in the old form is replayed from the buffer only, another one from the history, too`() throws {
        var rig = rig { $0.bufferLifetime = .seconds(1) }
        rig.post(#"{"name":"e","data":"x","channel":"a"}"#)
        let stream = try #require(rig.frames.first?["stream_id"]?.stringValue)
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
        var rig = rig(afterEvents: 11) { $0.bufferLength = 10 }
        let stream = try #require(rig.frames.first?["stream_id"]?.stringValue)
        let position = #"{"serial":\#(serial),"stream_id":"\#(stream)"}"#
        rig.receive(#"{"event":"sockudo:resume","data":{"channel_positions":{"a":\#(position)}}}"#, from: 1)
        #expect(rig.sent.last?.contains(words) == true, "\(rig.sent)")
    }

    @Test(arguments: [(0, 0, ["1: 1006 "]), (1, 1_000, [])] as [(Int, Int, [String])])
    func `A replay of a thousand events ends the connection, and one of 999 is sent`(serial: Int, frames: Int, closes: [String]) {
        var rig = rig(afterEvents: 1_000) { $0.bufferLength = 5_000 }
        rig.receive(#"{"event":"sockudo:resume","data":{"channel_positions":{"a":{"serial":\#(serial)}}}}"#, from: 1)
        #expect(rig.sent.count == frames)
        #expect(rig.closes == closes)
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
        var rig = rig(filter: filter)
        #expect(rig.post(#"{"name":"e","data":"x","channel":"a","tags":{"n":"2","w":"abc"}}"#).status == 200)
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
        #expect(rig(filter: filter).error?.message == "Invalid message format: Invalid tags filter: " + words)
    }
}
