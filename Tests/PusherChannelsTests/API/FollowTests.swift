import Processes
import TestSupport
import Testing

@testable import PusherChannels

/// The loop that the README recommends ends whenever there is nothing to wait for, and says why.
@Suite(.timeLimit(.lost)) struct FollowTests {
    private let readme = ReadmeTests()

    private func rig(_ change: (inout PusherClientOptions) -> Void = { _ in }) -> ClientRig {
        ClientRig(auth: .endpoint(authEndpoint: "https://example.com/auth"), change)
    }

    private func connected(_ rig: ClientRig) async throws {
        try await rig.recorder.next { $0 == .state(.connected) }
    }

    enum End: CaseIterable {
        case refused, canceled, shutDown
    }

    @Test(arguments: End.allCases)
    func `The README's loop ends with the client's error, or with none if it is canceled or shut down`(end: End) async throws {
        let rig = rig()
        let following = Task { try await readme.follow(rig.pusher) }
        try await connected(rig)
        switch end {
        case .refused: rig.socket.serverCloses(code: 4001, reason: "no such app")
        case .canceled: following.cancel()
        case .shutDown: await rig.pusher.shutdown()
        }
        if end == .refused {
            let error = await #expect(throws: PusherError.self) { try await following.value }
            #expect(error?.code == 4001)
        } else {
            try await following.value
        }
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }

    @Test func `A loop that stalls past the pause limit throws readerTooSlow, and the client disconnects`() async throws {
        let rig = rig { $0.pauseLimit = .seconds(20) }
        let (reading, stalled) = (Note<Void>(), Note<Void>())
        let prices = rig.pusher.subscribe("prices").events(named: "price", as: Double.self, buffering: StreamBuffering(limit: 10))
        let following = Task {
            async let connection: Void = rig.pusher.run()
            for try await _ in prices {
                reading.send(())
                await stalled.next()
            }
            try await connection
        }
        try await connected(rig)
        for _ in 0..<20 { rig.socket.publish(channel: "prices", event: "price", data: "1") }
        await reading.next()
        for _ in 0..<20 { rig.socket.publish(channel: "prices", event: "price", data: "1") }
        rig.scheduler.advance(by: .seconds(20))
        for _ in 0..<100 { stalled.send(()) }
        let error = await #expect(throws: PusherError.self) { try await following.value }
        #expect(error?.kind == .readerTooSlow)
        #expect(error?.message.contains("the stream of events named price of prices") == true, "\(error?.message ?? "")")
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }
}
