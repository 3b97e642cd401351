import TestSupport
import Testing

/// A test can publish by hand only events that a backend could publish.
struct ServerPublishingTests {
    private static let withoutKey = ServerApp(id: "1", key: "local-key", secret: "local-secret")

    private static let refusals = [
        ("news", "headline", String(repeating: "x", count: 10_241), "The data of event headline is longer than 10240 bytes"),
        ("no channel", "headline", "1", "Invalid channel name: no channel"),
        ("news", "", "1", "Missing: name, a string of at most 200 characters"),
        ("private-encrypted-a", "headline", "1", "app 1 (key local-key) has no master key, and private-encrypted-a is encrypted"),
    ]

    // Proves P18.2.
    @Test(arguments: refusals)
    func `An event that no backend could publish is reported, not sent`(
        channel: String, event: String, data: String, reason: String
    ) async throws {
        let finding = Finding(.error, "did not publish \(event) on \(channel): \(reason)")
        let inMemory = InMemoryServer(ServerMachine(apps: [Self.withoutKey]))
        #expect(inMemory.publish(channel: channel, event: event, data: data) == 0)
        #expect(inMemory.findings == [finding])
        let local = try await LocalServer.start(apps: [Self.withoutKey])
        #expect(local.publish(channel: channel, event: event, data: data) == 0)
        #expect(local.findings == [finding])
        await local.stop()
    }

    @Test(
        arguments: [
            (.pusherFake, "plain", [#"1: {"event":"e","channel":"a","data":"\"plain\""}"#]),
            (.pusherFake, "7", [#"1: {"event":"e","channel":"a","data":"7"}"#]),
            (.hosted, "", [#"1: {"event":"e","channel":"a","data":""}"#]), (.soketi, "", []),
        ] as [(ServerProfile, String, [String])])
    func `A test's event has the data that the profile's HTTP API gives it, and is refused as there`(
        profile: ServerProfile, data: String, sent: [String]
    ) {
        var rig = ServerRig(profile, open: 1)
        rig.subscribe(1, to: "a")
        rig.publish("a", "e", data)
        #expect(rig.sent == sent)
        rig.post(JSONValue.object(["name": "e", "channel": "a", "data": .string(data)]).text)
        #expect(rig.sent == sent)
    }

    @Test func `An app without a master key doesn't hold back another app's encrypted event`() {
        let other = ServerApp(id: "2", key: "other-key", secret: "other-secret")
        for apps in [[.local, other], [other, .local]] {
            let server = InMemoryServer(ServerMachine(apps: apps))
            server.publish(channel: "private-encrypted-a", event: "e", data: "1")
            #expect(server.findings.map(\.kind) == [.unheard])
        }
    }

    @Test func `An event for an encrypted channel is measured by its encrypted size`() {
        let server = InMemoryServer()
        for length in [10_240, 7_000] {
            server.publish(channel: "private-encrypted-a", event: "e", data: String(repeating: "x", count: length))
        }
        #expect(server.findings.map(\.kind) == [.error, .unheard])
    }

    @Test func `The HTTP API answers a disabled app with 403`() {
        var rig = ServerRig(.hosted, app: { $0.isEnabled = false })
        let reply = rig.respond(to: .signed("GET", "/apps/1/channels"))
        #expect((reply.status, reply.text) == (403, "App disabled\n"))
    }
}

struct ServerClientEventTests {
    private func rig(channel: String = "private-room", users: [String?] = [nil, nil]) -> ServerRig {
        var rig = ServerRig(open: users.count)
        for (index, user) in users.enumerated() { rig.subscribe(index + 1, to: channel, as: user) }
        return rig
    }

    @Test func `A client event reaches the others and names its sender on presence channels`() {
        var rig = rig(channel: "presence-room", users: ["ann", "bob", "cid"])
        rig.receive(#"{"event":"client-typing","channel":"presence-room","data":{"b":1.0,"a":2}}"#, from: 2)
        let frame = #"{"event":"client-typing","channel":"presence-room","data":"{\"b\":1.0,\"a\":2}","user_id":"bob"}"#
        #expect(rig.sent == ["1: \(frame)", "3: \(frame)"])
    }

    @Test func `A private channel's client event names no sender and keeps a string as it is`() {
        var rig = rig()
        rig.receive(#"{"event":"client-typing","channel":"private-room","data":"plain \"text\""}"#, from: 1)
        #expect(rig.sent == [#"2: {"event":"client-typing","channel":"private-room","data":"plain \"text\""}"#])
        rig.receive(#"{"event":"client-typing","channel":"private-room"}"#, from: 1)
        #expect(rig.sent == [#"2: {"event":"client-typing","channel":"private-room"}"#])
    }

    @Test(arguments: [
        ("room", #""event":"client-typing","channel":"room""#),
        ("private-encrypted-room", #""event":"client-typing","channel":"private-encrypted-room""#),
        ("private-room", #""event":"client-typing","channel":"private-elsewhere""#),
        ("private-room", #""event":"client-typing""#), ("private-room", #""event":"typing","channel":"private-room""#),
    ])
    func `A client event on a public, encrypted, foreign, or no channel, or without its prefix, is rejected with 4301`(
        channel: String, event: String
    ) {
        var rig = rig(channel: channel)
        rig.receive(#"{\#(event),"data":{}}"#, from: 1)
        #expect(rig.error?.code == 4301)
        #expect(rig.sent.count == 1)
    }

    @Test func `A client event of ten kilobytes is passed on, but one of a byte more is rejected`() {
        var rig = rig()
        for (length, code) in [(10_240, nil), (10_241, 4301)] {
            let data = String(repeating: "x", count: length)
            rig.receive(#"{"event":"client-e","channel":"private-room","data":"\#(data)"}"#, from: 1)
            #expect(rig.error?.code == code)
        }
    }
}

/// Two nodes of Sockudo, in one machine: connections with odd numbers are on one, those with even numbers on the other.
struct SockudoNodesTests {
    private func rig(_ change: (inout ServerProfile.SockudoV2) -> Void = { _ in }) -> ServerRig {
        var settings = ServerProfile.SockudoV2()
        (settings.nodes, settings.historyLength) = (2, 1_000)
        change(&settings)
        var rig = ServerRig(.sockudoV2) { $0.sockudoV2 = settings }
        for number in 1...2 {
            rig.open(number, path: "/app/local-key?protocol=2")
            rig.receive(#"{"event":"pusher:subscribe","data":{"channel":"a"}}"#, from: number)
        }
        return rig
    }

    /// Publishes an event on any node; returns who got it, with which stream and serial.
    private func publish(_ rig: inout ServerRig) -> [(number: String, stream: String?, serial: Int?)] {
        rig.post(#"{"name":"e","data":"x","channel":"a"}"#)
        return zip(rig.sent, rig.frames).map { line, frame in
            (String(line.prefix(1)), frame["stream_id"]?.stringValue, frame["serial"]?.integerValue)
        }
    }

    private func resume(_ rig: inout ServerRig, _ number: Int, after serial: Int, _ stream: String) -> JSONValue? {
        let position = #"{\"channel_positions\":{\"a\":{\"serial\":\#(serial),\"stream_id\":\"\#(stream)\"}}}"#
        rig.receive(#"{"event":"sockudo:resume","data":"\#(position)"}"#, from: number)
        return (rig.frames.last?["data"]?.stringValue).flatMap { try? JSONValue(parsing: $0) }
    }

    @Test func `With a shared history there is one stream, and either node replays all of it`() throws {
        var rig = rig()
        let sent = (1...20).map { _ in publish(&rig) }
        #expect(sent.allSatisfy { $0.map(\.number) == ["1", "2"] })
        #expect(sent.map { $0[0].serial } == Array(1...20))
        let stream = try #require(sent[0][0].stream)
        let replayed = (1...2).map { resume(&rig, $0, after: 4, stream)?["recovered"]?.arrayValue?.first?["replayed"] }
        #expect(replayed == [16, 16])
    }

    @Test func `A store that is behind what was sent doesn't know it yet`() throws {
        var rig = rig { $0.storeDelay = .milliseconds(100) }
        rig.handle(.timePassed)
        let sent = (1...20).map { _ in publish(&rig) }
        let stream = try #require(sent[0][0].stream)
        let early = (1...2).map { resume(&rig, $0, after: 20, stream) }
        #expect(early.contains { $0?["failed"]?.arrayValue?.first?["code"] == "continuity_unverifiable" })
        rig.wait(until: .milliseconds(100))
        let replayed = (1...2).map { resume(&rig, $0, after: 19, stream)?["recovered"]?.arrayValue?.first?["replayed"] }
        #expect(replayed == [1, 1])
    }

    @Test func `Without a shared history each node has a stream of its own`() throws {
        var rig = rig { $0.historyLength = nil }
        let sent = (1...20).map { _ in publish(&rig) }
        #expect(Set(sent.map { $0[0].stream }).count == 2)
        let codes = (1...2).map { number in
            resume(&rig, number, after: 1, sent[0][0].stream ?? "")?["failed"]?.arrayValue?.first?["code"]?.stringValue
        }
        #expect(codes.contains(nil) && codes.contains("stream_reset"), "one node knows nothing of the other's stream")
    }

    @Test func `Nodes that don't hear each other send only what is published on them`() {
        var rig = rig()
        rig.machine.nodesHearEachOther = false
        let numbers = (1...20).map { _ in publish(&rig).map(\.number) }
        #expect(numbers.allSatisfy { $0.count == 1 } && Set(numbers.joined()).count == 2)
        rig.machine.nodesHearEachOther = true
        let last = publish(&rig).map(\.serial)
        #expect(last == [21, 21])
    }
}
