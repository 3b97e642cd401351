import Logging
import PusherChannels
import ServiceLifecycle
import ServiceLifecycleTestKit
import TestSupport
import Testing

/// A service that reads events until there are no more.
struct EventReader: Service {
    let events: PusherStream<PusherEvent>
    let read: AsyncStream<String?>.Continuation

    func run() async throws {
        for try await event in events { read.yield(event.data) }
        read.finish()
    }
}

/// A client in a group of services.
@Suite(.timeLimit(.minutes(3))) struct ServiceTests {
    private func read(_ stream: AsyncStream<String?>) async -> [String?] { await stream.reduce(into: []) { $0.append($1) } }

    @Test func `At a shutdown during a flood, a service group's reader gets all that the client has read`() async throws {
        let client = TracedClient()
        let events = client.pusher.subscribe("news").events(named: "n", buffering: StreamBuffering(limit: 10_000))
        let (stream, continuation) = AsyncStream<String?>.makeStream()
        try await testGracefulShutdown { trigger in
            let group = ServiceGroup(
                services: [client.pusher, EventReader(events: events, read: continuation)], logger: Logger(label: "test"))
            async let running: Void = group.run()
            for await change in states(of: client.pusher) where change == .connected { break }
            // The shutdown comes in the middle of a flood.
            for number in 0..<5_000 { client.socket.publish(channel: "news", event: "n", data: "\(number)") }
            trigger.triggerGracefulShutdown()
            for number in 5_000..<5_100 { client.socket.publish(channel: "news", event: "n", data: "\(number)") }
            try await running
        }
        let data = await read(stream)
        #expect(data.count >= 5_000)
        #expect(data == (0..<data.count).map { "\($0)" }, "nothing that was read is missing")
        #expect(client.pusher.connection.connectionState == .disconnected)
        #expect(client.scheduler.pendingTimers.isEmpty)
    }

    @Test func `A client that is shut down before it runs ends at once and for good`() async throws {
        let client = TracedClient()
        try await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            try await client.pusher.run()
        }
        #expect(client.socket.requests.count <= 1)
        #expect(client.pusher.connection.connectionState == .disconnected)
        client.pusher.connect()
        #expect(client.pusher.connection.connectionState == .disconnected, "for good")
    }

    /// A loop beside the client in one service, as in the README.
    @Test func `A loop beside a client's run reads every event received and ends with the client`() async throws {
        let client = TracedClient()
        let prices = client.pusher.subscribe("prices").events(named: "price", as: Int.self)
        let (stream, continuation) = AsyncStream<String?>.makeStream()
        try await testGracefulShutdown { trigger in
            async let connection: Void = client.pusher.run()
            for await change in states(of: client.pusher) where change == .connected { break }
            for number in 0..<100 { client.socket.publish(channel: "prices", event: "price", data: "\(number)") }
            trigger.triggerGracefulShutdown()
            for try await price in prices { continuation.yield("\(try price.get())") }
            try await connection
        }
        continuation.finish()
        #expect(await read(stream) == (0..<100).map { "\($0)" })
    }

    /// A service that reports the end of its wait.
    private struct Waiter: Service {
        let wait: @Sendable () async throws -> Void
        let ended: AsyncStream<String?>.Continuation

        func run() async {
            do {
                ended.yield("begun")
                try await wait()
                ended.yield("confirmed")
            } catch {
                ended.yield(error is CancellationError ? "asked to end" : "\(error)")
            }
            ended.finish()
        }
    }

    /// Nothing replies to the waiting service, and the client is asked to end only after it.
    @Test(arguments: [true, false]) func `A service that waits for a silent server ends with its group`(signsIn: Bool)
        async throws
    {
        let client = TracedClient(server: .manual)
        let (stream, ended) = AsyncStream<String?>.makeStream()
        let waiter = Waiter(
            wait: {
                if signsIn {
                    _ = try await client.pusher.signIn()
                } else {
                    _ = try await client.pusher.subscribe(to: "news", within: nil)
                }
            }, ended: ended)
        var outcomes: [String?] = []
        try await testGracefulShutdown { trigger in
            let group = ServiceGroup(services: [client.pusher, waiter], logger: Logger(label: "test"))
            async let running: Void = group.run()
            for await outcome in stream {
                outcomes.append(outcome)
                if outcome == "begun" { trigger.triggerGracefulShutdown() }
            }
            try await running
        }
        #expect(outcomes == ["begun", "asked to end"])
        #expect(client.pusher.connection.connectionState == .disconnected)
    }

    @Test func `The error that ends a client is thrown by its service group`() async throws {
        let client = TracedClient()
        let group = ServiceGroup(services: [client.pusher], logger: Logger(label: "test"))
        let running = Task { try await group.run() }
        for await change in states(of: client.pusher) where change == .connected { break }
        client.socket.serverCloses(code: 4001, reason: "no such app")
        let error = await #expect(throws: PusherError.self) { try await running.value }
        #expect(error?.code == 4001)
    }

    /// Returns the states of a client, the current one first.
    private func states(of pusher: Pusher) -> AsyncStream<ConnectionState> {
        let changes = pusher.connectionStates
        let present = pusher.connection.connectionState
        return AsyncStream { continuation in
            continuation.yield(present)
            let task = Task {
                for try await change in changes { continuation.yield(change.new) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
