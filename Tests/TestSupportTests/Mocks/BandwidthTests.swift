import Foundation
import TestSupport
import Testing

/// Limited bandwidth in memory, as the proxy provides it on sockets.
struct BandwidthTests {
    @Test func `Limited bandwidth delays each message by its size, one after the other`() throws {
        try withTestHarness { harness in
            let socket = harness.makeWebSocket()
            let pusher = harness.makePusher(socket: socket)
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("news")
            pusher.connect()
            try socket.inject(.bandwidth(bytesPerSecond: 100))
            func publish(frameOf bytes: Int) {
                let empty = #"{"event":"e","channel":"news","data":""}"#.utf8.count
                let data = String(repeating: "x", count: bytes - (bytes < 128 ? 2 : 4) - empty)
                harness.server.publish(channel: "news", event: "e", data: data)
            }
            func received() -> Int { recorder.notifications.count { if case .event = $0 { true } else { false } } }
            let before = received()
            func expect(_ counts: (after: Int, new: Int)...) {
                for (milliseconds, new) in counts {
                    harness.scheduler.advance(by: .milliseconds(milliseconds))
                    #expect(received() == before + new)
                }
            }
            publish(frameOf: 100)
            publish(frameOf: 200)
            expect((999, 0), (1, 1), (1_999, 1), (1, 2))
            // Idle time doesn't add up to an allowance.
            harness.scheduler.advance(by: .seconds(10))
            publish(frameOf: 50)
            expect((499, 2), (1, 3))
            socket.heal()
            publish(frameOf: 100)
            #expect(received() == before + 4)
            pusher.disconnect()
        }
    }

    @Test func `Limited bandwidth delays a response by the size of its body`() throws {
        let time = TestScheduler()
        let session = MockSession(delivery: .immediate, scheduler: time)
        var response = StubResponse(text: String(repeating: "x", count: 150))
        response.fault = .bandwidth(bytesPerSecond: 100)
        session.stub(.any, response)
        let answer = try session.ask("https://api.example.com/")
        time.advance(by: .milliseconds(1_499))
        #expect(answer.withLock { $0 } == nil)
        time.advance(by: .milliseconds(1))
        #expect(answer.withLock { $0 } == "200 \(response.text)")
    }
}
