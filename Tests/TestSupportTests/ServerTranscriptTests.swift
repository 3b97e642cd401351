import PusherChannels
import TestSupport
import Testing

/// The profiles of four servers behave, line by line, as the real servers were observed to behave.
struct ServerTranscriptTests {
    private struct Exchange: Sendable {
        let what: String
        /// Sends the request, and returns the parts of the reply to compare.
        let ask: @Sendable (inout ServerRig) -> [String]
    }

    private static let info = #"{"user_id":"ann","user_info":{}}"#

    private static func subscribe(_ rig: inout ServerRig, _ number: Int, to channel: String, data: String? = nil) -> [String] {
        let socketID = rig.machine.openConnections.first { $0.id == ServerRig.ID(number) }?.socketID ?? ""
        let auth =
            (try? Signature.channel(channel, channelData: data, socketID: socketID, key: "local-key", secret: "local-secret"))
            ?? ""
        rig.receive(ServerRig.subscription(to: channel, auth: auth, channelData: data), from: number)
        return rig.sent + rig.closes
    }

    private static func request(_ request: RecordedRequest, _ rig: inout ServerRig) -> [String] {
        ["\(rig.respond(to: request).status)"]
    }

    private static let exchanges = [
        Exchange(what: "unknown key") { rig in
            rig.open(3, path: "/app/another-key?protocol=7&client=test&version=1.0")
            return rig.sent.filter { !$0.contains("established") } + rig.closes
                + (rig.sent.contains { $0.contains("established") } ? ["welcome"] : [])
        },
        Exchange(what: "bad signature") { rig in
            rig.receive(ServerRig.subscription(to: "private-a", auth: "local-key:00"), from: 1)
            return rig.sent
        },
        Exchange(what: "client event with a value") { rig in
            for number in 1...2 { _ = subscribe(&rig, number, to: "private-a") }
            rig.receive(#"{"event":"client-a","channel":"private-a","data":{"x": 1}}"#, from: 1)
            return rig.sent
        },
        Exchange(what: "client event with a text") { rig in
            for number in 1...2 { _ = subscribe(&rig, number, to: "private-a") }
            rig.receive(#"{"event":"client-a","channel":"private-a","data":"text"}"#, from: 1)
            return rig.sent
        },
        Exchange(what: "two minutes of a client that only listens") { rig in
            rig.now = .seconds(120)
            rig.handle(.timePassed)
            return rig.closes.filter { $0.hasPrefix("1") }
        },
        Exchange(what: "joins without user_info") { rig in subscribe(&rig, 1, to: "presence-a", data: #"{"user_id":"ann"}"#) },
        Exchange(what: "the next one then") { rig in
            _ = subscribe(&rig, 1, to: "presence-a", data: #"{"user_id":"ann"}"#)
            return subscribe(&rig, 2, to: "presence-a", data: #"{"user_id":"bob","user_info":{}}"#).filter { $0.hasPrefix("2") }
                .map { $0.contains("succeeded") ? "2: joins" : $0 }
        },
        Exchange(what: "a user's second connection joins") { rig in
            _ = subscribe(&rig, 1, to: "presence-a", data: info)
            return subscribe(&rig, 2, to: "presence-a", data: info)
        },
        Exchange(what: "and leaves") { rig in
            for number in 1...2 { _ = subscribe(&rig, number, to: "presence-a", data: info) }
            rig.receive(#"{"event":"pusher:unsubscribe","data":{"channel":"presence-a"}}"#, from: 2)
            return rig.sent
        },
        Exchange(what: "ping") { rig in
            rig.receive(#"{"event":"pusher:ping","data":{}}"#, from: 1)
            return rig.sent
        },
        Exchange(what: "cache channels") { rig in
            ["cache-a", "private-cache-a"].flatMap { subscribe(&rig, 1, to: $0).filter { $0.contains("miss") } }
        },
        Exchange(what: "no JSON") { rig in
            rig.receive("hello", from: 1)
            return rig.sent + rig.closes
        },
        Exchange(what: "sign-in") { rig in
            rig.signIn(1, as: "ann")
            return rig.sent
        },
        Exchange(what: "body_md5 of nothing") { rig in
            request(.signed("GET", "/apps/1/channels", query: ["body_md5": "d41d8cd98f00b204e9800998ecf8427e"]), &rig)
        },
        Exchange(what: "batch") { rig in request(.signed("POST", "/apps/1/batch_events", body: #"{"batch":[]}"#), &rig) },
        Exchange(what: "publishes with another key") { rig in
            request(.signed("POST", "/apps/1/events", body: event, key: "another"), &rig)
        },
        Exchange(what: "and another secret") { rig in
            request(.signed("POST", "/apps/1/events", body: event, key: "another", secret: "another"), &rig)
        },
    ]

    private static let event = #"{"name":"e","channel":"a","data":"1"}"#

    private func transcript(of profile: ServerProfile) -> String {
        Self.exchanges.map { exchange in
            var rig = ServerRig(ServerMachine(profile: profile, socketIDs: ["1.2", "3.4"]))
            for number in 1...2 { rig.open(number) }
            let lines = exchange.ask(&rig)
            return "\(exchange.what)\n" + (lines.isEmpty ? ["–"] : lines).map { "    \($0)" }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    @Test func `Reverb`() {
        #expect(transcript(of: .reverb) == ServerTranscripts.reverb)
    }

    @Test func `pusher-fake 6.1.0`() {
        #expect(transcript(of: .pusherFake) == ServerTranscripts.pusherFake)
    }

    @Test func `ipe`() {
        #expect(transcript(of: .ipe) == ServerTranscripts.ipe)
    }

    @Test func `poxa 1.3`() {
        #expect(transcript(of: .poxa) == ServerTranscripts.poxa)
    }
}
