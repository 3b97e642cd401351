import Foundation
import PusherChannels
import TestSupport
import Testing

#if !canImport(Darwin)  // There, the lane needs a newer system than the package does.

/// The SDK's client with its asynchronous user code on a lane.
struct LaneClientTests {
    private func client(on lane: Lane, authTakes delay: Duration = .seconds(2)) -> (pusher: Pusher, socket: MockWebSocket) {
        let socket = MockWebSocket()
        let environment = TestEnvironment(scheduler: lane.scheduler)
            .pusherEnvironment(makeWebSocket: { socket }, spawn: lane.spawn)
        let auth = AuthMethod.customHandler { socketID, channel in
            try await TestClock(lane.scheduler, label: "user's auth").sleep(for: delay)
            return PusherAuth(auth: "key:\(socketID)/\(channel)")
        }
        let options = PusherClientOptions(authMethod: auth, delivery: .immediate)
        return (Pusher(key: "key", options: options, environment: environment), socket)
    }

    @Test func `Asynchronous authorization takes its time, to the nanosecond`() async throws {
        try await Lane().run { lane in
            let (pusher, _) = client(on: lane)
            pusher.connect()
            let channel = pusher.subscribe("private-room")
            await lane.advance(by: .seconds(2) - .nanoseconds(1))
            #expect(!channel.subscribed)
            #expect(lane.scheduler.pendingTimers.map(\.label).contains("user's auth"))
            await lane.advance(by: .nanoseconds(1))
            #expect(channel.subscribed)
        }
    }

    @Test func `A stream's consumer on the lane sees events in order, and the test waits for none`() async throws {
        try await Lane().run { lane in
            let (pusher, socket) = client(on: lane)
            pusher.connect()
            let channel = pusher.subscribe("private-room")
            let names = Locked<[String]>([])
            let consumer = lane.spawn {
                for await event in channel.events(named: "news") { names.withLock { $0.append(event.data ?? "") } }
            }
            try await lane.eventually("the subscription") { channel.subscribed }
            for number in 1...3 { socket.publish(channel: "private-room", event: "news", data: "\(number)") }
            try await lane.eventually("three events") { names.withLock { $0.count } == 3 }
            #expect(names.withLock { $0 } == ["1", "2", "3"])
            #expect(lane.scheduler.now == .seconds(2))
            consumer.cancel()
            await consumer.value
            pusher.disconnect()
        }
    }

    @Test func `In whatever order it runs, authorization reaches each channel`() async throws {
        try await exploreInterleavings(seeds: 0..<50) { lane in
            let (pusher, _) = client(on: lane, authTakes: .milliseconds(1))
            pusher.connect()
            let channels = (0..<5).map { pusher.subscribe("private-\($0)") }
            try await lane.eventually("all subscriptions", within: .seconds(5)) { channels.allSatisfy(\.subscribed) }
            pusher.disconnect()
        }
    }

    @Test func `Authorization that never ends is told from one that is slow`() async throws {
        let error = await #expect(throws: NeverHappened.self) {
            try await Lane().run { lane in
                let (pusher, _) = client(on: lane, authTakes: .seconds(3_600))
                pusher.connect()
                let channel = pusher.subscribe("private-room")
                try await lane.eventually("the subscription", within: .seconds(1)) { channel.subscribed }
            }
        }
        #expect(try #require(error).description.contains("user's auth at 3600.0 seconds"))
    }
}

#endif
