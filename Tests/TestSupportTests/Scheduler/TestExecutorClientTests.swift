import Foundation
import TestSupport
import Testing

#if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.

/// The SDK's client with its asynchronous user code on an executor.
struct TestExecutorClientTests {
    private func client(on executor: TestExecutor, authTakes delay: Duration = .seconds(2)) -> (
        pusher: Pusher, socket: MockWebSocket
    ) {
        let socket = MockWebSocket()
        let environment = TestEnvironment(scheduler: executor.scheduler)
            .pusherEnvironment(makeWebSocket: { socket }, spawn: executor.spawn)
        let auth = AuthMethod.customHandler { socketID, channel in
            try await TestClock(executor.scheduler, label: "user's auth").sleep(for: delay)
            return PusherAuth(auth: "key:\(socketID)/\(channel)")
        }
        let options = PusherClientOptions(authMethod: auth, delivery: .immediate)
        return (Pusher(key: "key", options: options, environment: environment), socket)
    }

    @Test func `A client's asynchronous authorization takes virtual time to the nanosecond`() async throws {
        try await TestExecutor().run { executor in
            let (pusher, _) = client(on: executor)
            pusher.connect()
            let channel = pusher.subscribe("private-room")
            await executor.advance(by: .seconds(2) - .nanoseconds(1))
            #expect(!channel.subscribed)
            #expect(executor.scheduler.pendingTimers.map(\.label).contains("user's auth"))
            await executor.advance(by: .nanoseconds(1))
            #expect(channel.subscribed)
        }
    }

    @Test func `A stream's consumer on the executor sees events in order, without real waits`() async throws {
        try await TestExecutor().run { executor in
            let (pusher, socket) = client(on: executor)
            pusher.connect()
            let channel = pusher.subscribe("private-room")
            let names = Locked<[String]>([])
            let reader = executor.spawn {
                for try await event in channel.events(named: "news") { names.withLock { $0.append(event.data ?? "") } }
            }
            try await executor.eventually("the subscription") { channel.subscribed }
            for number in 1...3 { socket.publish(channel: "private-room", event: "news", data: "\(number)") }
            try await executor.eventually("three events") { names.withLock { $0.count } == 3 }
            #expect(names.withLock { $0 } == ["1", "2", "3"])
            #expect(executor.scheduler.now == .seconds(2))
            reader.cancel()
            try await reader.value
            pusher.disconnect()
        }
    }

    @Test func `Authorization reaches each channel under any interleaving`() async throws {
        try await exploreInterleavings(seeds: 0..<50) { executor in
            let (pusher, _) = client(on: executor, authTakes: .milliseconds(1))
            pusher.connect()
            let channels = (0..<5).map { pusher.subscribe("private-\($0)") }
            try await executor.eventually("all subscriptions", within: .seconds(5)) { channels.allSatisfy(\.subscribed) }
            pusher.disconnect()
        }
    }

    @Test func `A wait for a slow authorization fails and names its timer`() async throws {
        let error = await #expect(throws: NeverHappened.self) {
            try await TestExecutor().run { executor in
                let (pusher, _) = client(on: executor, authTakes: .seconds(3_600))
                pusher.connect()
                let channel = pusher.subscribe("private-room")
                try await executor.eventually("the subscription", within: .seconds(1)) { channel.subscribed }
            }
        }
        #expect(try #require(error).description.contains("user's auth at 3600.0 seconds"))
    }
}

#endif
