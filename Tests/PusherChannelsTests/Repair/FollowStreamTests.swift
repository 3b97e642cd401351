import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// A copy of what a backend has, kept equal by `follow`.
@Suite(.timeLimit(FollowRig.isSimulation ? .minutes(60) : .lost)) struct FollowStreamTests {
    @Test func `A followed channel gives its state, then events, and the state again after a gap`() async throws {
        try await FollowRig.follow { rig, following in
            try await rig.executor.eventually { following.store.version == 0 }
            rig.backend.change("private-orders")
            await rig.executor.advance(by: .seconds(61))
            rig.server.shutdown()
            rig.backend.change("private-orders")
            try await rig.executor.eventually { following.store.version == 2 }
            #expect(following.words == ["state 0 first", "event 1", "state 2 reconnected"])
        }
    }

    @Test func `What a Sockudo server replays needs no load, and what it lost needs one`() async throws {
        try await FollowRig.follow(isSockudo: true) { rig, following in
            try await rig.executor.eventually { following.store.version == 0 }
            for losesStreams in [false, true] {
                await rig.executor.advance(by: .seconds(61))
                rig.server.shutdown()
                if losesStreams { rig.server.loseStreams(of: "private-orders") }
                let version = rig.backend.changeSilently("private-orders")
                rig.server.publish(channel: "private-orders", event: "n", data: "\(version)")
                try await rig.executor.eventually { following.store.version == version }
            }
            #expect(following.words == ["state 0 first", "event 1", "state 2 reconnected"])
        }
    }

    @Test func `Events that come while the state is loaded follow it, except those that it covers`() async throws {
        let covers = { @Sendable (state: Int, event: PusherEvent) in event.data.flatMap { Int($0) }.map { $0 <= state } ?? false }
        try await FollowRig.follow(loadTime: .seconds(5), covers: covers) { rig, following in
            await rig.executor.advance(by: .seconds(2))
            rig.backend.change("private-orders")
            #expect(following.words.isEmpty)
            // Half of the time passes before the backend reads, and half after: the state has the first change.
            await rig.executor.advance(by: .seconds(1))
            rig.backend.change("private-orders")
            await rig.executor.advance(by: .seconds(3))
            #expect(following.words == ["state 1 first", "event 2"])
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `A state without an age is loaded again each second, not at once`(maximumAge: Duration) async throws {
        try await FollowRig.follow(maximumAge: maximumAge) { rig, following in
            await rig.executor.advance(by: .seconds(10))
            #expect((9...11).contains(following.words.count))
        }
    }

    @Test func `A load that hangs is canceled after 30 seconds and tried again`() async throws {
        try await FollowRig.follow(loadTime: .seconds(10_000)) { rig, following in
            await rig.executor.advance(by: .seconds(29))
            #expect(following.words.isEmpty)
            rig.backend.loadTime = .zero
            await rig.executor.advance(by: .seconds(3))
            let failure = "failed the state of private-orders was not loaded within 30.0 seconds"
            #expect(following.words.first?.hasPrefix(failure) == true && following.words.last == "state 0 first")
            #expect(rig.backend.cancelled == 1)
        }
    }

    @Test(arguments: [true, false])
    func `Canceling a loop, or unsubscribing from its channel, ends it and cancels the load`(isCanceled: Bool) async throws {
        try await FollowRig.follow(loadTime: .seconds(10)) { rig, following in
            await rig.executor.advance(by: .seconds(1))
            if isCanceled { following.task.cancel() } else { rig.pusher.unsubscribe("private-orders") }
            await rig.executor.settle()
            #expect(following.isOver && following.words.isEmpty && rig.backend.cancelled == 1)
            #expect(rig.executor.scheduler.pendingTimers.allSatisfy { !$0.label.contains("load") })
        }
    }

    @Test func `A state that exceeds its maximum age is loaded again`() async throws {
        try await FollowRig.follow(maximumAge: .seconds(600)) { rig, following in
            await rig.executor.advance(by: .seconds(599))
            rig.backend.changeSilently("private-orders")
            #expect(following.words == ["state 0 first"])
            await rig.executor.advance(by: .seconds(2))
            #expect(following.words == ["state 0 first", "state 1 maximum age"])
        }
    }

    @Test func `A loop gets events while a state that is too old can't be loaded`() async throws {
        try await FollowRig.follow(maximumAge: .seconds(600)) { rig, following in
            await rig.executor.advance(by: .seconds(599))
            (rig.backend.loadTime, rig.backend.failures) = (.seconds(10), 1000)
            for _ in 0..<60 {
                rig.backend.change("private-orders")
                await rig.executor.advance(by: .seconds(60))
            }
            #expect(following.store.version == 60 && following.store.problem == nil)
            #expect(following.words.filter { !$0.hasPrefix("failed") } == ["state 0 first"] + (1...60).map { "event \($0)" })
            rig.backend.failures = 0
            await rig.executor.advance(by: .seconds(100))
            #expect(following.words.last == "state 60 maximum age")
        }
    }

    @Test func `A state that is asked for is loaded for that reason, though the one before was too old by then`() async throws {
        try await FollowRig.follow(maximumAge: .seconds(600)) { rig, following in
            await rig.executor.advance(by: .seconds(1))
            following.pause = .seconds(1000)
            rig.backend.change("private-orders")
            await rig.executor.advance(by: .seconds(700))
            following.stream.reload()
            await rig.executor.advance(by: .seconds(400))
            #expect(following.words == ["state 0 first", "event 1", "state 1 reload"])
        }
    }

    @Test func `A loop that stays behind gets the state that it asks for within a buffer's length`() async throws {
        try await FollowRig.follow { rig, following in
            await rig.executor.advance(by: .seconds(61))
            following.pause = .milliseconds(5)
            for number in 0..<400 {
                rig.backend.change("private-orders")
                if number == 200 { following.stream.reload() }
                await rig.executor.advance(by: .milliseconds(4))
            }
            #expect(following.words.contains { $0.hasPrefix("state ") && $0.hasSuffix(" reload") })
            #expect(following.store.problem == nil)
        }
    }

    private static let ten = StreamBuffering(limit: 10, overflow: .pauseThenDrop)

    @Test func `Events beyond the buffer's limit during a load cause one more load and no pause of reading`() async throws {
        try await FollowRig.follow(loadTime: .seconds(10), buffering: Self.ten) { rig, following in
            await rig.executor.advance(by: .seconds(9))
            for _ in 0..<50 { rig.backend.change("private-orders") }
            #expect(!rig.pusher.connection.core.read { $0.readingDeadline != nil })
            await rig.executor.advance(by: .seconds(30))
            #expect(following.words.filter { !$0.hasPrefix("failed") } == ["state 0 first", "state 50 held too much"])
        }
    }

    @Test(arguments: ["cancelled", "failed", "missed", "loaded", "given up"])
    func `Events held during a load are released, however the load ends`(end: String) async throws {
        try await FollowRig.follow(loadTime: .seconds(10), failures: end == "failed" ? 1 : 0) { rig, following in
            await rig.executor.advance(by: .seconds(3))
            for _ in 0..<50 { rig.backend.change("private-orders") }
            await rig.executor.settle()
            #expect(!rig.pusher.loads.hold(16 << 20))
            switch end {
            case "cancelled": following.task.cancel()
            case "missed": rig.server.shutdown()
            case "given up": rig.pusher.unsubscribe("private-orders")
            default: break
            }
            await rig.executor.advance(by: end == "loaded" ? .seconds(10) : .milliseconds(2500))
            await rig.executor.settle()
            #expect(rig.pusher.loads.hold(16 << 20))
        }
    }

    @Test func `A loop that is too slow for a flood of events gets the state again`() async throws {
        try await FollowRig.follow(buffering: Self.ten) { rig, following in
            await rig.executor.settle()
            following.pause = .seconds(60)
            for _ in 0..<50 { rig.backend.change("private-orders") }
            await rig.executor.advance(by: .seconds(30))
            for _ in 0..<50 { rig.backend.change("private-orders") }
            following.pause = .zero
            try await rig.executor.eventually(within: .seconds(1000)) { following.store.version == 100 }
            #expect(following.words.contains { $0.hasSuffix("overflow") })
        }
    }

    @Test func `Refusals that a busy loop doesn't read wait in the stream while the state can't be loaded`() async throws {
        try await FollowRig.follow(failures: .max, buffering: Self.ten) { rig, following in
            following.pause = .seconds(1000)
            await rig.executor.advance(by: .seconds(1))
            for number in 0..<100 {
                let refusal = ChannelUpdate.subscriptionFailed(PusherError(.subscriptionRefused, message: "\(number)"))
                _ = rig.pusher.connection.core.readers.report {
                    $0.updates.append(refusal, of: "private-orders", at: rig.executor.scheduler.now)
                }
            }
            // As many refusals as the buffer has room for, and as many failures of loads.
            #expect((10...20).contains(following.stream.follower.shared.withLock(\.ready.count)))
        }
    }

    @Test func `A loop that was left doesn't pause reading`() async throws {
        try await FollowRig.run { rig in
            let backend = rig.backend
            let orders = rig.pusher.follow("private-orders", buffering: StreamBuffering(limit: 10)) {
                try await backend.load("private-orders")
            }
            for try await _ in orders { break }
            for _ in 0..<100 { backend.change("private-orders") }
            #expect(!rig.pusher.connection.core.read { $0.readingDeadline != nil })
            orders.reload()
        }
    }

    @Test func `A stream of a followed channel is read once, and another one begins with a state`() async throws {
        try await FollowRig.follow { rig, following in
            await rig.executor.settle()
            let second = await #expect(throws: PusherError.self) { for try await _ in following.stream {} }
            #expect(second?.kind == .invalidRequest)
            following.task.cancel()
            await rig.executor.settle()
            rig.backend.change("private-orders")
            let another = rig.follow("private-orders")
            await rig.executor.advance(by: .seconds(2))
            #expect(another.words.last?.hasPrefix("state 1 ") == true)
            another.task.cancel()
        }
    }

    @Test func `A retryable refusal is reported, and a final one ends the loop with its error`() async throws {
        try await FollowRig.run { rig in
            rig.auth.withLock { $0 = 503 }
            let following = rig.follow("private-orders")
            await rig.executor.advance(by: .seconds(5))
            #expect(following.words.first?.hasPrefix("failed ") == true)
            rig.auth.withLock { $0 = 403 }
            await rig.executor.advance(by: .seconds(100))
            #expect(following.isOver && (following.error as? PusherError)?.code == 403)
        }
    }

    @Test func `Followed events are decoded, and data that can't be decoded doesn't end the loop`() async throws {
        try await FollowRig.run { rig in
            let backend = rig.backend
            let orders = rig.pusher.follow("private-orders", decoding: Int.self) { try await backend.load("private-orders") }
            var iterator = orders.makeAsyncIterator()
            guard case .state(0, _)? = try await iterator.next() else { throw FollowRig.Unexpected() }
            rig.server.publish(channel: "private-orders", event: "n", data: "no number")
            backend.change("private-orders")
            guard case .event(_, .failure)? = try await iterator.next() else { throw FollowRig.Unexpected() }
            guard case .event(let event, .success(1))? = try await iterator.next() else { throw FollowRig.Unexpected() }
            #expect(event.eventName == "n")
        }
    }

    /// `ci/tools/simulate` runs more.
    private static let seeds: ClosedRange<UInt64> = 1...(FollowRig.isSimulation ? 5 : 2)

    @Test(arguments: seeds)
    func `Every copy equals the backend's state after a storm of restarts and failed loads`(seed: UInt64) async throws {
        try await FollowRig.storm(seed: seed, channels: 50, restarts: 20)
    }

    /// A thousand of them by `ci/tools/simulate`, where nothing else keeps the cores busy.
    @Test func `Each of hundreds of copies equals the backend's state after a storm`() async throws {
        try await FollowRig.storm(seed: 7, channels: FollowRig.isSimulation ? 1000 : 200, restarts: 20)
    }
}
