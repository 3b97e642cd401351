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
    @Test func `An in-memory client sees an end without a close frame as a lost connection`() throws {
        let scheduler = TestScheduler()
        let server = InMemoryServer(ServerMachine(apps: [], profile: .sockudo), scheduler: scheduler)
        let pusher = Pusher(
            key: "nobodys", options: PusherClientOptions(delivery: .immediate),
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

/// Sockudo's protocol V2, as it was recorded of version 5.0.1. `<s>` stands for the same text each time, `<>` for any; V speaks
/// protocol 7, H publishes.
struct SockudoRecordingTests {
    private static let exchange = #"""
        C< {"event":"sockudo:connection_established","data":"{\"socket_id\":\"<socket>\",\"activity_timeout\":120}","message_id":"<>"}
        C> {"event":"sockudo:subscribe","data":{"channel":"prices"}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"prices","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<s>","serial":0}
        V< {"event":"pusher:connection_established","data":"{\"socket_id\":\"<>\",\"activity_timeout\":120}"}
        V> {"event":"pusher:subscribe","data":{"channel":"prices"}}
        V< {"event":"pusher_internal:subscription_succeeded","channel":"prices","data":"{}"}
        H> {"name":"e","data":"{\"p\":1}","channel":"prices"}
        C< {"event":"e","channel":"prices","data":"{\"p\":1}","message_id":"<>","stream_id":"<s>","serial":1}
        V< {"event":"e","channel":"prices","data":"{\"p\":1}"}
        H> {"name":"e","data":"2","channel":"prices","tags":{"k":"v"},"extras":{"headers":{"h":"1"}}}
        C< {"event":"e","channel":"prices","data":"2","tags":{"k":"v"},"message_id":"<>","stream_id":"<s>","serial":2,"extras":{"headers":{"h":"1"}}}
        V< {"event":"e","channel":"prices","data":"2"}
        H> {"name":"e","data":"eph","channel":"prices","extras":{"ephemeral":true}}
        C< {"event":"e","channel":"prices","data":"eph","message_id":"<>","extras":{"ephemeral":true}}
        V< {"event":"e","channel":"prices","data":"eph"}
        H> {"name":"even","data":"0","channel":"rw"}
        H> {"name":"odd","data":"1","channel":"rw"}
        H> {"name":"even","data":"2","channel":"rw"}
        H> {"name":"odd","data":"3","channel":"rw"}
        H> {"name":"even","data":"4","channel":"rw"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":2}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<rw>","serial":5}
        C< {"event":"odd","channel":"rw","data":"3","message_id":"<m3>","stream_id":"<rw>","serial":4}
        C< {"event":"even","channel":"rw","data":"4","message_id":"<m4>","stream_id":"<rw>","serial":5}
        C< {"event":"sockudo:rewind_complete","channel":"rw","data":{"historical_count":2,"truncated_by_limit":true,"truncated_by_retention":false,"complete":false,"live_count":0},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":{"seconds":60}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<rw>","serial":5}
        C< {"event":"even","channel":"rw","data":"0","message_id":"<>","stream_id":"<rw>","serial":1}
        C< {"event":"odd","channel":"rw","data":"1","message_id":"<m1>","stream_id":"<rw>","serial":2}
        C< {"event":"even","channel":"rw","data":"2","message_id":"<m2>","stream_id":"<rw>","serial":3}
        C< {"event":"odd","channel":"rw","data":"3","message_id":"<m3>","stream_id":"<rw>","serial":4}
        C< {"event":"even","channel":"rw","data":"4","message_id":"<m4>","stream_id":"<rw>","serial":5}
        C< {"event":"sockudo:rewind_complete","channel":"rw","data":{"truncated_by_limit":true,"historical_count":5,"truncated_by_retention":true,"complete":false,"live_count":0},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":5,"filter":{"events":["odd"]}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw","data":"{\"attach_serial\":5}","message_id":"<>","stream_id":"<rw>","serial":5}
        C< {"event":"odd","channel":"rw","data":"1","message_id":"<m1>","stream_id":"<rw>","serial":2}
        C< {"event":"odd","channel":"rw","data":"3","message_id":"<m3>","stream_id":"<rw>","serial":4}
        C< {"event":"sockudo:rewind_complete","channel":"rw","data":{"truncated_by_limit":false,"historical_count":2,"complete":true,"truncated_by_retention":false,"live_count":0},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw-empty","rewind":2}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"rw-empty","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<>","serial":0}
        C< {"event":"sockudo:rewind_complete","channel":"rw-empty","data":{"historical_count":0,"live_count":0,"complete":true,"truncated_by_retention":false,"truncated_by_limit":false},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":0}}
        C< {"event":"sockudo:error","data":{"code":4000,"message":"Invalid message format: Invalid rewind option in subscription data"},"message_id":"<>"}
        V> {"event":"pusher:subscribe","data":{"channel":"rw","rewind":2}}
        V< {"event":"pusher:error","data":{"message":"Channel error: Channel rewind is only supported on protocol V2","code":4300}}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rw\", \"limit\": 1}"}
        C< {"event":"sockudo:channel_history","channel":"rw","data":{"stream_state":{"last_transition_at_ms":null,"durable_state":"healthy","node_id":null,"observed_source":"in_memory","reason":null,"recovery_allowed":true,"authoritative_source":"in_memory","stream_id":"<rw>","reset_required":false},"direction":"newest_first","limit":1,"next_cursor":"<>","bounds":{"attach_serial":null,"end_serial":null,"end_time_ms":null,"start_serial":null,"start_time_ms":null,"until_attach":false},"items":[{"stream_id":"<rw>","message_id":"<m4>","published_at_ms":"<>","operation_kind":"append","serial":5,"payload_size_bytes":"<>","event_name":"even","message":{"stream_id":"<rw>","channel":"rw","serial":5,"event":"even","data":"4","message_id":"<m4>"}}],"has_more":true,"continuity":{"retained_messages":5,"oldest_available_serial":1,"retained_bytes":"<>","truncated_by_retention":false,"newest_available_published_at_ms":"<>","newest_available_serial":5,"stream_id":"<rw>","complete":false,"oldest_available_published_at_ms":"<>"}},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rw\", \"direction\": \"oldest_first\", \"start_serial\": 2, \"end_serial\": 3, \"limit\": 2}"}
        C< {"event":"sockudo:channel_history","channel":"rw","data":{"items":[{"message":{"data":"1","stream_id":"<rw>","event":"odd","channel":"rw","message_id":"<m1>","serial":2},"event_name":"odd","message_id":"<m1>","published_at_ms":"<>","operation_kind":"append","stream_id":"<rw>","serial":2,"payload_size_bytes":"<>"},{"stream_id":"<rw>","published_at_ms":"<>","message_id":"<m2>","serial":3,"event_name":"even","message":{"message_id":"<m2>","serial":3,"data":"2","channel":"rw","event":"even","stream_id":"<rw>"},"payload_size_bytes":"<>","operation_kind":"append"}],"limit":2,"direction":"oldest_first","has_more":false,"continuity":{"oldest_available_serial":1,"oldest_available_published_at_ms":"<>","retained_messages":5,"retained_bytes":"<>","newest_available_published_at_ms":"<>","newest_available_serial":5,"stream_id":"<rw>","truncated_by_retention":false,"complete":true},"bounds":{"end_serial":3,"start_time_ms":null,"start_serial":2,"end_time_ms":null,"until_attach":false,"attach_serial":null},"next_cursor":null,"stream_state":{"reset_required":false,"observed_source":"in_memory","authoritative_source":"in_memory","reason":null,"node_id":null,"stream_id":"<rw>","durable_state":"healthy","last_transition_at_ms":null,"recovery_allowed":true}},"message_id":"<>"}
        C> {"event":"sockudo:channel_history","data":"{\"channel\": \"rwbig\"}"}
        C< {"event":"sockudo:error","data":{"code":4301,"message":"Client event error: Socket <socket> is not subscribed to channel rwbig"},"message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"fl","filter":{"events":["yes"]}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"fl","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<fl>","serial":0}
        H> {"name":"no","data":"x","channel":"fl"}
        H> {"name":"yes","data":"x","channel":"fl"}
        C< {"event":"yes","channel":"fl","data":"x","message_id":"<yes>","stream_id":"<fl>","serial":2}
        H> {"name":"no","data":"x","channel":"fl"}
        C> {"event":"sockudo:resume","data":"{\"channel_positions\": {\"fl\": {\"serial\": 0}}}"}
        C< {"event":"yes","channel":"fl","data":"x","message_id":"<yes>","stream_id":"<fl>","serial":2}
        C< {"event":"sockudo:resume_success","data":"{\"recovered\":[{\"position\":{\"last_message_id\":\"<>\",\"serial\":3,\"stream_id\":\"<fl>\"},\"source\":\"hot\",\"replayed\":1,\"channel\":\"fl\"}],\"failed\":[]}","message_id":"<>"}
        C> {"event":"pusher:subscribe","data":{"channel":"tg","filter":{"key":"k","cmp":"eq","val":"v"}}}
        C< {"event":"sockudo_internal:subscription_succeeded","channel":"tg","data":"{\"attach_serial\":0}","message_id":"<>","stream_id":"<tg>","serial":0}
        H> {"name":"e","data":"x","channel":"tg","tags":{"k":"w"}}
        H> {"name":"e","data":"x","channel":"tg","tags":{"k":"v"}}
        C< {"event":"e","channel":"tg","data":"x","tags":{"k":"v"},"message_id":"<>","stream_id":"<tg>","serial":2}
        C> {"event":"pusher:subscribe","data":{"channel":"fl2","filter":{"key":"k"}}}
        C< {"event":"sockudo:error","data":{"message":"Invalid message format: Invalid tags filter: Leaf node requires a comparison operator","code":4000},"message_id":"<>"}
        """#

    @Test func `Each frame is the recorded one, member by member`() {
        var comparison = Comparison()
        var rig = ServerRig(ServerMachine(profile: .sockudoV2))
        var waiting: [String] = []
        let numbers = ["C": 1, "V": 2]
        for line in Self.exchange.split(separator: "\n").map(String.init) {
            let (who, text) = (String(line.prefix(1)), String(line.dropFirst(3)))
            if line.dropFirst().first == "<" {
                if text.contains("connection_established") {
                    rig.open(numbers[who] ?? 0, path: "/app/local-key?protocol=\(who == "C" ? 2 : 7)")
                    waiting += rig.sent
                }
                let frame = waiting.isEmpty ? "nothing" : waiting.removeFirst()
                let recorded = "\(numbers[who] ?? 0): \(text)"
                let isSame = comparison.isSame(recorded, frame)
                #expect(isSame, "recorded: \(recorded)\nsent: \(frame)")
            } else {
                #expect(waiting.isEmpty, "sent, but not recorded before \(line)")
                if who == "H" { rig.post(text) } else { rig.receive(text, from: numbers[who] ?? 0) }
                waiting = rig.sent
            }
        }
        #expect(waiting.isEmpty)
    }

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

/// Compares recorded frames with those of a server, whatever the order of members.
private struct Comparison {
    private var texts: [String: String] = [:]

    mutating func isSame(_ recorded: String, _ sent: String) -> Bool {
        let (left, right) = (recorded.split(separator: " ", maxSplits: 1), sent.split(separator: " ", maxSplits: 1))
        guard left.first == right.first, let left = left.last, let right = right.last else { return false }
        return isSame(try? JSONValue(parsing: String(left)), try? JSONValue(parsing: String(right)))
    }

    private mutating func isSame(_ recorded: JSONValue?, _ sent: JSONValue?) -> Bool {
        switch (recorded, sent) {
        case (.object(let recorded), .object(let sent)):
            return recorded.count == sent.count && recorded.allSatisfy { isSame($0.value, sent[$0.key]) }
        case (.array(let recorded), .array(let sent)):
            return recorded.count == sent.count && zip(recorded, sent).allSatisfy { isSame($0, $1) }
        case ("<>", .some): return true
        case (.string(let recorded), .string(let sent)):
            if let inner = try? JSONValue(parsing: recorded), inner.objectValue != nil {
                return isSame(inner, try? JSONValue(parsing: sent))
            }
            guard let range = recorded.firstRange(of: #/<\w+>/#) else { return recorded == sent }
            let (before, after) = (recorded[..<range.lowerBound], recorded[range.upperBound...])
            guard sent.hasPrefix(before), sent.hasSuffix(after) else { return false }
            let text = String(sent.dropFirst(before.count).dropLast(after.count))
            let known = texts[String(recorded[range])] ?? text
            texts[String(recorded[range])] = text
            return known == text
        default: return recorded == sent
        }
    }
}

extension ServerRig {
    /// Publishes as a backend does.
    mutating func post(_ body: String) {
        let status = respond(to: .signed("POST", "/apps/1/events", body: body)).status
        #expect(status == 200)
    }
}
