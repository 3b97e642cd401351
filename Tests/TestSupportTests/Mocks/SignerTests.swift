import Foundation
import TestSupport
import Testing

/// The signer that stands in for the backend in tests of authorization handlers.
@Suite struct SignerTests {
    private let signer = Signer(userID: "ann")

    private func makePusher(_ harness: TestHarness, _ signer: Signer) -> Pusher {
        harness.makePusher { options in
            options.authMethod = .customHandler { try await signer.authorize(socketID: $0, channelName: $1) }
            options.userAuthMethod = .customHandler { try await signer.authenticate(socketID: $0) }
        }
    }

    @Test(arguments: ["private-a", "presence-a", "private-encrypted-a"])
    func `A signer's signature is accepted on private, presence, and encrypted channels`(channel: String) async throws {
        try await withTestHarness { harness in
            let pusher = makePusher(harness, signer)
            let recorder = RecordingDelegate(of: pusher)
            let subscribed = pusher.subscribe(channel)
            pusher.connect()
            try await recorder.next { $0 == .subscribed(channel: channel) }
            #expect((subscribed as? PusherPresenceChannel)?.me()?.userID == (channel == "presence-a" ? "ann" : nil))
            #expect(signer.requests.map(\.channelName) == [channel])
            #expect(signer.requests.map(\.socketID) == [pusher.connection.socketID])
        }
    }

    @Test func `A signer's user info is shown to the other members`() throws {
        try withTestHarness { harness in
            let watcher = harness.makePusher()
            let lobby = watcher.subscribeToPresenceChannel(channelName: "presence-lobby")
            watcher.connect()
            let ann = Signer(userID: "ann", userInfo: ["name": "Ann"])
            let pusher = harness.makePusher { $0.authMethod = .authorizer(authorizer: ann) }
            pusher.subscribe("presence-lobby")
            pusher.connect()
            let info = try lobby["ann"]?.decodeUserInfo(as: [String: String].self)
            #expect(info == ["name": "Ann"])
        }
    }

    @Test func `A signer used as an authorizer can hold, refuse, and sign`() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher { $0.authMethod = .authorizer(authorizer: signer) }
            pusher.connect()
            let gate = signer.hold()
            let room = pusher.subscribe("private-a")
            #expect(!room.subscribed)
            gate.open()
            #expect(room.subscribed)
            signer.refuse(403)
            #expect(!pusher.subscribe("private-b").subscribed)
            #expect(pusher.subscribe("private-c").subscribed)
        }
    }

    @Test func `A signer fails with the given errors the given number of times`() async throws {
        signer.refuse(429, retryAfter: .seconds(7))
        signer.fail(URLError(.networkConnectionLost), times: 2)
        signer.fail(URLError(.badURL), times: 0)
        var errors: [String] = []
        for _ in 0..<4 {
            do {
                _ = try await signer.authorize(socketID: "1.2", channelName: "private-a")
                errors.append("none")
            } catch let error as PusherError {
                errors.append("\(error.code ?? 0) \(error.retryAfter ?? .zero)")
            } catch let error as URLError {
                errors.append("\(error.code == .networkConnectionLost)")
            }
        }
        #expect(errors == ["429 7.0 seconds", "true", "true", "none"])
        #expect(signer.requests.count == 4)
    }

    @Test func `Canceling a request that a signer holds throws a CancellationError`() async throws {
        let gate = signer.hold()
        let task = Task { [signer] in try await signer.authorize(socketID: "1.2", channelName: "private-a") }
        try await signer.nextRequest()
        #expect(gate.waitingCount == 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(gate.waitingCount == 0)
    }

    @Test func `A signer refuses denied channels and users, and requests that can't be signed`() async {
        var app = ServerApp(id: "1", key: "k", secret: "s", deniedChannels: ["private-no"]) { request, userID in
            request.channelName != "presence-\(userID ?? "nobody")"
        }
        app.deniedUsers = ["ann"]
        let signer = Signer(app: app, userID: "ann")
        for channel in ["private-no", "presence-ann"] {
            let error = await #expect(throws: PusherError.self) {
                try await signer.authorize(socketID: "1.2", channelName: channel)
            }
            #expect(error?.code == 403)
        }
        let refusal = await #expect(throws: PusherError.self) { try await signer.authenticate(socketID: "1.2") }
        #expect(refusal?.code == 403)
        for (socketID, channel) in [("1.2", "news"), ("x", "private-a"), ("1.2", "private-encrypted-a")] {
            let error = await #expect(throws: PusherError.self) {
                try await signer.authorize(socketID: socketID, channelName: channel)
            }
            #expect(error?.kind == .invalidRequest)
        }
    }
}
