import Dispatch
import PusherChannels
import TestSupport
import Testing

/// Clients in one process share nothing that one of them could block.
@Suite(.timeLimit(.lost)) struct ManyClientsTests {
    @Test func clientsOfOneOptionsValueDoNotWaitForEachOther() async throws {
        let server = InMemoryServer()
        let options = PusherClientOptions()
        let gate = DispatchSemaphore(value: 0)
        let clients = (0..<20).map { number -> (Pusher, RecordingDelegate) in
            let pusher = Pusher(
                key: "local-key", options: options,
                environment: PusherEnvironment(makeWebSocket: { server.makeWebSocket() }))
            let recorder = RecordingDelegate()
            let channel = pusher.subscribe("news")
            // The first client's closure is blocked.
            channel.bind(eventName: "n") { event in
                if number == 0 { gate.wait() }
                recorder.record(event)
            }
            pusher.connect()
            return (pusher, recorder)
        }
        server.publish(channel: "news", event: "n", data: "1")
        for (_, recorder) in clients.dropFirst() { try await recorder.next() }
        #expect(clients[0].1.notifications.isEmpty)
        gate.signal()
        try await clients[0].1.next()
    }
}
