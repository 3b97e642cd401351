import TestSupport
import Testing

@testable import PusherChannels

@Suite struct ServerListTests {
    private func transcript() -> Transcript {
        var transcript = Transcript { ($0.secure, $0.fallbacksSecure) = (true, [false, true]) }
        transcript.play(.connect)
        return transcript
    }

    /// Fails the attempt under way, and lets the next one begin; returns its server and whether it uses TLS.
    private func fail(_ transcript: inout Transcript) -> String {
        transcript.fail()
        for case .command(.openSocket(_, let secure)) in transcript.passToDeadline() {
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
        transcript.close(1000)
        transcript.play(.connect)
        #expect(transcript.machine.session.servers.current == 0)
    }

    @Test func `A move to another server reconnects the client, and its channels are subscribed again`() {
        var transcript = transcript()
        transcript.establish()
        transcript.subscribe("news")
        transcript.succeed("news")
        #expect(transcript.play(.moved(secure: false)).contains(.close(1)))
        #expect(transcript.close(1000).contains(.open(2, secure: false)))
        #expect(transcript.establish().sent == [.subscription(to: "news")])
        #expect(transcript.succeed("news").gaps.count == 1)
    }

    @Test func `A move connects a client that waits to reconnect, but not a disconnected one`() {
        var waiting = transcript()
        waiting.fail()
        #expect(waiting.play(.moved(secure: false)).contains(.open(2, secure: false)))
        var idle = Transcript()
        #expect(idle.play(.moved(secure: false)).isEmpty)
        #expect(idle.play(.connect).contains(.open(1, secure: false)))
    }

    @Test func `A client's description names the server of its current or next connection`() {
        let rig = ClientRig(server: .manual) { $0.fallbackHosts = [PusherServer(.host("b.example"), port: 6001, useTLS: false)] }
        rig.pusher.connect()
        #expect("\(rig.pusher)".hasPrefix("key at ws.pusherapp.com: opening a socket"))
        rig.socket.refuse(.connectionRefused)
        #expect("\(rig.pusher)".hasPrefix("key at b.example: reconnecting in "))
        rig.pusher.disconnect()
        #expect("\(rig.pusher)".hasPrefix("key at ws.pusherapp.com: disconnected"))
        rig.pusher.connect()
        rig.pusher.move(to: .host("c.example"))
        #expect("\(rig.pusher)".hasPrefix("key at c.example: opening a socket"))
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
}
