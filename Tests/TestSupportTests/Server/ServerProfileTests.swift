import Foundation
import PusherChannels
import TestSupport
import Testing

/// What the steps of `ci/checks/profiles` can't show, which compare each profile with the real server's transcript.
struct ServerProfileTests {
    private func rig(_ profile: ServerProfile) -> ServerRig {
        var rig = ServerRig(ServerMachine(profile: profile, socketIDs: ["1.2", "3.4"]))
        rig.open(1)
        rig.open(2)
        return rig
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
            var rig = ServerRig(ServerMachine(apps: [app], profile: profile))
            rig.open(1)
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
