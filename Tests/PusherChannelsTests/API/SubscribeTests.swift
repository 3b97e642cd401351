import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct SubscribeTests {
    private static let auth = AuthMethod.endpoint(authEndpoint: "https://example.com/auth")

    private func isWanted(_ channel: String, of rig: ClientRig) -> Bool {
        rig.pusher.connection.channels.find(name: channel) != nil
    }

    @Test func `Awaiting a subscription returns the subscribed channel, even if it was subscribed before`() async throws {
        let rig = ClientRig.connected()
        #expect(try await rig.pusher.subscribe(to: "private-orders").subscribed)
        #expect(try await rig.pusher.subscribe(to: "private-orders").subscribed, "and again")
        #expect(try await rig.pusher.subscribe(toPresenceChannel: "presence-room").count == 1)
        #expect(rig.scheduler.pendingTimers.map(\.label) == ["connection"])
    }

    private func waiting(
        _ rig: ClientRig, _ executor: TestExecutor, _ channel: String = "private-orders", within limit: Duration? = .seconds(30)
    ) async -> Task<PusherChannel, any Error> {
        let task = Task(executorPreference: executor) { try await rig.pusher.subscribe(to: channel, within: limit) }
        await executor.settle()
        return task
    }

    /// Awaits a subscription, makes the client do something meanwhile, and returns the error.
    private func error(
        of rig: ClientRig = ClientRig(), within limit: Duration? = .seconds(30),
        after body: @escaping @Sendable (ClientRig) async -> Void
    ) async throws -> PusherError? {
        try await TestExecutor().run { executor -> PusherError? in
            let task = await waiting(rig, executor, within: limit)
            await body(rig)
            return await #expect(throws: PusherError.self) { try await task.value }
        }
    }

    @Test func `An awaited subscription that is refused throws the error, and the channel is given up`() async throws {
        let rig = ClientRig(auth: Self.auth)
        rig.session.stub("POST https://example.com/auth", .http(403))
        let error = try await error(of: rig) { $0.pusher.connect() }
        #expect(error?.kind == .authorization && error?.code == 403)
        #expect(!isWanted("private-orders", of: rig))
    }

    @Test func `Awaiting an unsubscribed channel's old object fails without ending another caller's wait`() async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            let old = rig.pusher.subscribe("private-orders")
            rig.pusher.unsubscribe(old.name)
            let task = await waiting(rig, executor)
            await #expect(throws: PusherError.self) {
                try await rig.pusher.connection.core.awaitSubscription(to: "private-orders", number: old.number, within: nil)
            }
            rig.pusher.connect()
            let channel = try await task.value
            #expect(channel.subscribed)
        }
    }

    @Test func `Canceling an awaited subscription gives up the channel only if nobody else wanted it`() async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            rig.pusher.subscribe("private-orders")
            for (channel, isStillWanted) in [("private-orders", true), ("private-other", false)] {
                let task = await waiting(rig, executor, channel)
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(isWanted(channel, of: rig) == isStillWanted)
            }
            #expect(rig.scheduler.pendingTimers.isEmpty)
        }
    }

    @Test func `An awaited subscription times out at its limit with the code of the latest failure`() async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig(auth: Self.auth)
            rig.session.stub("POST https://example.com/auth", .http(503))
            let (task, other) = (await waiting(rig, executor), await waiting(rig, executor, "other"))
            rig.scheduler.advance(by: .seconds(1))
            rig.pusher.connect()
            let channel = try await other.value
            #expect(channel.subscribed)
            rig.scheduler.advance(by: .seconds(29))
            let error = await #expect(throws: PusherError.self) { try await task.value }
            #expect(error?.kind == .timedOut && error?.code == 503)
            #expect(error?.message.hasPrefix("private-orders was not subscribed within 30.0 seconds: ") == true)
        }
    }

    @Test func `An awaited subscription's timeout tells why the client couldn't connect, or says to connect`() async throws {
        let unreachable = try await error(of: ClientRig(server: .manual), within: .milliseconds(500)) { rig in
            rig.pusher.connect()
            rig.socket.refuse(.unreachable, "nothing listens there")
            rig.scheduler.advance(by: .milliseconds(500))
        }
        #expect(unreachable?.message == "private-orders was not subscribed within 0.5 seconds: nothing listens there")
        let never = try await error { $0.scheduler.advance(by: .seconds(30)) }
        #expect(
            never?.message
                == "private-orders was not subscribed within 30.0 seconds: the client is disconnected: call connect() or run()")
    }

    /// A lost connection is newer than the channel's earlier error; after a disconnect, the application has to connect.
    @Test func `After a disconnect, an awaited subscription's timeout says so instead of an older error`() async throws {
        let rig = ClientRig.connected(auth: Self.auth)
        rig.session.stub("POST https://example.com/auth", .http(503))
        rig.pusher.subscribe("private-orders")
        rig.socket.drop()
        rig.pusher.disconnect()
        let error = try await error(of: rig) { $0.scheduler.advance(by: .seconds(30)) }
        let message = error?.message ?? ""
        #expect(message.hasSuffix("; the client is disconnected: call connect() or run()") && !message.contains("503"))
    }

    @Test func `If the client gives up or the channel is unsubscribed, an awaited subscription throws the reason`() async throws {
        let gaveUp = try await error(of: ClientRig(server: .manual)) { rig in
            rig.pusher.connect()
            rig.socket.accept()
            rig.socket.serverCloses(code: 4001, reason: "no such app")
        }
        #expect(gaveUp?.code == 4001)
        let unsubscribed = try await error { $0.pusher.unsubscribe("private-orders") }
        #expect(unsubscribed?.message == "private-orders was unsubscribed meanwhile")
    }

    /// No state change reports the shutdown of a client that was never connected.
    @Test(arguments: [(true, false), (true, true), (false, true)])
    func `Disconnecting or shutting down a client makes an awaited subscription throw`(isConnected: Bool, isForGood: Bool)
        async throws
    {
        let error = try await error(of: ClientRig(server: .manual)) { rig in
            if isConnected { rig.pusher.connect() }
            if isForGood { await rig.pusher.shutdown() } else { rig.pusher.disconnect() }
        }
        #expect(error == (isForGood ? PusherError.clientShutDown : .clientDisconnected))
    }

    @Test func `Awaiting a subscription to an invalid name throws, and the channel isn't kept`() async {
        let rig = ClientRig.connected()
        let error = await #expect(throws: PusherError.self) { try await rig.pusher.subscribe(to: "no such name") }
        #expect(error?.kind == .invalidRequest)
        #expect(!isWanted("no such name", of: rig))
    }
}
