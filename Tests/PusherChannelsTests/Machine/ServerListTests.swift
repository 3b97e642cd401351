import TestSupport
import Testing

@testable import PusherChannels

@Suite struct ServerListTests {
    private func transcript() -> Transcript {
        var transcript = Transcript {
            $0.secure = true
            $0.fallbacksSecure = [false, true]
        }
        transcript.play(.connect)
        return transcript
    }

    private let lost = WebSocketClosure.failed(TransportError(.connectionLost, "lost"))

    /// Fails the attempt under way, and lets the next one begin; returns its server and whether it uses TLS.
    private func fail(_ transcript: inout Transcript) -> String {
        transcript.play(.socketClosed(lost, transcript.attempt))
        let outputs = transcript.passToDeadline()
        for case .command(.openSocket(_, let secure)) in outputs {
            return "\(transcript.machine.session.servers.current) \(secure)"
        }
        return "nothing"
    }

    @Test func `A failed attempt goes on to the next server, and after the last one to the first`() {
        var transcript = transcript()
        #expect((1...4).map { _ in fail(&transcript) } == ["1 false", "2 true", "0 true", "1 false"])
    }

    @Test func `A lost connection is made again on the same server`() {
        var transcript = transcript()
        _ = fail(&transcript)
        transcript.establish()
        transcript.pass(.seconds(100))
        #expect(fail(&transcript) == "1 false")
    }

    @Test func `The first reconnect after ten minutes on a fallback goes to the first server`() {
        var transcript = transcript()
        _ = fail(&transcript)
        transcript.establish()
        for _ in 0..<70 {
            transcript.pass(.seconds(10))
            transcript.receive(#"{"event":"pusher:pong"}"#)
        }
        #expect(transcript.machine.state == .connected)
        #expect(fail(&transcript) == "0 true")
    }

    @Test func `The first server is tried again ten minutes after it failed, counted from the failure`() {
        var servers = ServerList([true, false])
        servers.attemptFailed(at: .origin)
        servers.willReconnect(at: .origin + .seconds(900))
        #expect(servers.current == 1, "it was not tried yet")
        servers.willReconnect(at: .origin + .seconds(599))
        #expect(servers.current == 1)
        servers.willReconnect(at: .origin + .seconds(600))
        #expect(servers.current == 0)
    }

    @Test func `A request to connect begins with the first server`() {
        var transcript = transcript()
        _ = fail(&transcript)
        transcript.play(.disconnect)
        transcript.play(.socketClosed(.closed(code: 1000, reason: ""), transcript.attempt))
        transcript.play(.connect)
        #expect(transcript.machine.session.servers.current == 0)
    }

    @Test func `A move to another server reconnects the client, and its channels are subscribed again`() {
        var transcript = transcript()
        transcript.establish()
        transcript.play(.subscribe(channel: "news", auth: nil))
        transcript.succeed("news")
        let moved = transcript.play(.moved(secure: false))
        #expect(moved.contains(.command(.closeSocket(transcript.attempt, code: 1000, reason: ""))))
        let opened = transcript.play(.socketClosed(.closed(code: 1000, reason: ""), transcript.attempt))
        #expect(opened.contains(.command(.openSocket(transcript.attempt, secure: false))))
        let established = transcript.establish()
        #expect(established.sent == [.subscribe(channel: "news", auth: nil, channelData: nil)])
        let gaps = transcript.succeed("news").deliveries.filter { if case .gap = $0 { true } else { false } }
        #expect(gaps.count == 1)
    }

    @Test func `A move connects a client that waits to reconnect, but not a disconnected one`() {
        var waiting = transcript()
        waiting.play(.socketClosed(lost, waiting.attempt))
        #expect(waiting.play(.moved(secure: false)).contains(.command(.openSocket(waiting.attempt, secure: false))))
        var idle = Transcript()
        #expect(idle.play(.moved(secure: false)).isEmpty)
        #expect(idle.play(.connect).contains(.command(.openSocket(idle.attempt, secure: false))))
    }

    @Test func `A client's requests go to its servers in order, and to the new one after a move`() {
        let rig = ClientRig(server: .manual) {
            $0.fallbackHosts = [PusherServer(.host("b.example"), port: 6001, useTLS: false), PusherServer(.cluster("us2"))]
        }
        rig.pusher.connect()
        for _ in 0..<2 {
            rig.socket.refuse(.connectionRefused)
            rig.scheduler.advance(by: .seconds(5))
        }
        let addresses = { rig.socket.requests.map { "\($0.host):\($0.port) \($0.secure)" } }
        #expect(addresses() == ["ws.pusherapp.com:443 true", "b.example:6001 false", "ws-us2.pusher.com:443 true"])
        rig.pusher.move(to: .host("c.example"), port: 6002, useTLS: false)
        #expect(addresses().last == "c.example:6002 false")
        rig.socket.refuse(.connectionRefused)
        #expect(rig.recorder.log.contains { $0.hasPrefix("reconnecting") && $0.contains("host=") })
    }

    @Test(arguments: [(120, 30_000), (30, 22_500)])
    func `By default, a silent client sends a ping every half minute, or earlier if the server's time-out is shorter`(
        timeout: Int, milliseconds: Int
    ) {
        var transcript = Transcript.connected(activityTimeout: timeout) { $0 = ConnectionMachine.Configuration() }
        #expect(transcript.pass(.milliseconds(milliseconds - 1)).sent.isEmpty)
        #expect(transcript.pass(.milliseconds(1)).sent == [.ping])
    }

    @Test(arguments: [([61, 61, 60], true), ([61, 61], false), ([61, 20, 61], false), ([2, 2, 2], false)])
    func `Three losses after the same silence are reported with a hint at a proxy's idle time-out`(silences: [Int], isTold: Bool)
    {
        var transcript = Transcript()
        transcript.play(.connect)
        var told: [String] = []
        for silence in silences {
            transcript.establish()
            transcript.pass(.seconds(silence))
            told = transcript.play(.socketClosed(lost, transcript.attempt)).errors.map(\.message)
            transcript.passToDeadline()
        }
        #expect(told.contains { $0.contains("three times running: is it the idle time-out of a proxy?") } == isTold)
    }

    @Test func `Losses after the same silence with an ordinary close between them give no hint at a proxy`() {
        var transcript = Transcript()
        transcript.play(.connect)
        var told: [String] = []
        for round in 0..<6 {
            transcript.establish()
            transcript.pass(.seconds(61))
            let end = round % 2 == 0 ? lost : .closed(code: 1001, reason: "")
            told += transcript.play(.socketClosed(end, transcript.attempt)).errors.map(\.message)
            transcript.passToDeadline()
        }
        #expect(!told.isEmpty && !told.contains { $0.contains("three times running") })
    }
}
