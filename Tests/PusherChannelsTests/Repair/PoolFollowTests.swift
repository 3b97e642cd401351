import Logging
import TestSupport
import Testing

@testable import PusherChannels

/// Copies of what many channels of a pool have.
@Suite(.timeLimit(FollowRig.isSimulation ? .minutes(60) : .lost)) struct PoolFollowTests {
    @Test func `Each channel of a pool gives its state, then events, and the state again after a gap`() async throws {
        try await rig(channels: 3, connections: 1) { rig in
            #expect(rig.words == ["a0 state 0 first", "a1 state 0 first", "a2 state 0 first"])
            rig.backend.change("a1")
            await rig.executor.advance(by: .seconds(61))
            rig.server.shutdown()
            rig.backend.change("a2")
            await rig.executor.advance(by: .seconds(20))
            #expect(rig.words.contains("a1 event 1"))
            let again = ["a0 state 0 reconnected", "a1 state 1 reconnected", "a2 state 1 reconnected"]
            #expect(rig.words.suffix(3).sorted() == again)
        }
    }

    @Test func `Events of a live channel are delivered while another channel's state is loaded`() async throws {
        try await rig(channels: 2, connections: 1) { rig in
            rig.backend.loadTime = .seconds(10)
            rig.stream.reload("a0")
            await rig.executor.advance(by: .seconds(9))
            rig.backend.change("a1")
            rig.backend.change("a0")
            await rig.executor.settle()
            #expect(rig.words.last == "a1 event 1")
            await rig.executor.advance(by: .seconds(2))
            #expect(rig.words.suffix(2) == ["a0 state 0 reload", "a0 event 1"])
        }
    }

    @Test func `A channel that was subscribed before it is followed gives its state, too`() async throws {
        try await rig(channels: 0, connections: 1) { rig in
            rig.pool.subscribe("old")
            await rig.executor.advance(by: .seconds(1))
            let backend = rig.backend
            var steps = rig.pool.follow(["old"]) { try await backend.load($0) }.makeAsyncIterator()
            let step = try await steps.next()
            #expect(step.map { "\($0.channelName) \(Following.word($0.step))" } == "old state 0 first")
        }
    }

    @Test func `A channel whose state is asked for before the pool has begun gives its first state`() async throws {
        try await rig(channels: 0, connections: 1) { rig in
            rig.pool.subscribe("old")
            await rig.executor.advance(by: .seconds(1))
            let (pool, backend) = (rig.pool, rig.backend)
            let stream = Locked<PoolFollowStream<Int>?>(nil)
            // A step of the pool, behind which its others wait.
            let follow = { @Sendable in
                let steps = pool.follow(["old"]) { try await backend.load($0) }
                steps.reload("old")
                stream.withLock { $0 = steps }
            }
            pool.change { $0.steps.append(.then(follow)) }
            guard var steps = stream.withLock(\.self)?.makeAsyncIterator() else { throw FollowRig.Unexpected() }
            let step = try await steps.next()
            #expect(step.map { Following.word($0.step) } == "state 0 first")
        }
    }

    @Test(arguments: [0, 1000])
    func `A channel that the pool unsubscribed from isn't loaded until it is subscribed to again`(failures: Int) async throws {
        try await rig(channels: 2, connections: 1, maximumAge: .seconds(60)) { rig in
            rig.backend.failures = failures
            await rig.executor.advance(by: .seconds(61))
            rig.pool.unsubscribe("a0")
            let before = rig.backend.loads
            await rig.executor.advance(by: .seconds(600))
            rig.backend.failures = 0
            #expect(rig.backend.loads["a0"] == before["a0"])
            #expect(rig.backend.loads["a1", default: 0] > before["a1", default: 0])
            rig.pool.subscribe("a0")
            await rig.executor.advance(by: .seconds(30))
            #expect(rig.words.last { $0.hasPrefix("a0 ") } == "a0 state 0 subscribed again")
            #expect(rig.backend.loads["a0", default: 0] == before["a0", default: 0] + 1)
        }
    }

    @Test(arguments: [1, 2])
    func `A followed channel's event is given if it comes with those of channels not followed`(connections: Int) async throws {
        try await rig(channels: 10, connections: connections) { rig in
            let others = (0..<10).map { "other-\($0)" }
            rig.pool.subscribe(others)
            await rig.executor.advance(by: .seconds(61))
            rig.pause(true)
            // The loop has the first round, and a part of the second one is on its way to it. What follows is taken together.
            for _ in 0..<3 {
                for other in others { rig.server.publish(channel: other, event: "n", data: "0") }
                for channel in 0..<10 { rig.backend.change("a\(channel)") }
                await rig.executor.settle()
            }
            rig.pause(false)
            await rig.executor.advance(by: .seconds(2))
            for channel in 0..<10 {
                let words = rig.words.filter { $0.hasPrefix("a\(channel) ") }
                #expect(words == ["state 0 first", "event 1", "event 2", "event 3"].map { "a\(channel) \($0)" })
            }
        }
    }

    @Test func `A channel's move to another connection causes one load`() async throws {
        try await rig(channels: 30, connections: 2) { rig in
            await rig.executor.advance(by: .seconds(61))
            let before = rig.backend.loads
            rig.pool.resize(to: 3)
            await rig.executor.advance(by: .seconds(10))
            let moved = rig.backend.loads.filter { $0.value > before[$0.key, default: 0] }
            #expect(!moved.isEmpty && moved.count < 30 && moved.allSatisfy { $0.value == 2 })
        }
    }

    @Test func `A followed stream that begins again after its pool is gone ends`() async throws {
        try await TestExecutor().run { _ in
            func follow() -> PoolFollowStream<Int> { PoolRig().pool.follow(["a"]) { _ in 1 } }
            let stream = follow()
            let renewed = PoolFollowStream(follower: Locked(stream.makeFollower(nil)), makeFollower: stream.makeFollower)
            for try await _ in renewed { Issue.record("nobody loads it") }
        }
    }

    /// Ten thousand of them by `ci/tools/simulate`.
    @Test func `Thousands of channels are loaded eight at a time, and once each`() async throws {
        let count = FollowRig.isSimulation ? 10_000 : 1000
        try await rig(channels: count, connections: count / 100) { rig in
            await rig.executor.advance(by: .seconds(120))
            rig.backend.loadTime = .milliseconds(10)
            let before = rig.backend.loads
            #expect(before.count == count && before.values.allSatisfy { $0 == 1 })
            rig.server.shutdown()
            await rig.executor.advance(by: .seconds(200))
            #expect(rig.backend.loads.values.allSatisfy { $0 == 2 })
            #expect(rig.backend.mostUnderWay == 8)
        }
    }

    @Test func `A loop that is too slow gets the states again and doesn't end`() async throws {
        try await rig(channels: 3, connections: 1) { rig in
            await rig.executor.advance(by: .seconds(61))
            rig.pause(true)
            for _ in 0..<3000 { rig.backend.change("a0") }
            await rig.executor.advance(by: .seconds(60))
            rig.pause(false)
            await rig.executor.advance(by: .seconds(60))
            rig.backend.change("a0")
            await rig.executor.advance(by: .seconds(60))
            #expect(rig.words.last == "a0 event 3001")
            #expect(rig.words.contains { $0.hasPrefix("a0 state 3000") })
        }
    }

    @Test func `A channel that is subscribed while its loop is too slow gives its state once the loop is back`() async throws {
        try await rig(channels: 1, connections: 1, others: ["private-b"], auth: 503) { rig in
            #expect(rig.words.contains { $0.hasPrefix("private-b failed") })
            rig.pause(true)
            for _ in 0..<3000 { rig.backend.change("a0") }
            await rig.executor.advance(by: .seconds(60))
            rig.auth.withLock { $0 = 200 }
            await rig.executor.advance(by: .seconds(120))
            #expect(rig.pool.channel(named: "private-b")?.subscribed == true)
            rig.pause(false)
            await rig.executor.advance(by: .seconds(60))
            #expect(rig.words.last { $0.hasPrefix("private-b ") } == "private-b state 0 first")
        }
    }

    @Test func `A loop that comes back while a Sockudo server is away gets the states again`() async throws {
        try await rig(channels: 2, connections: 1, isSockudo: true) { rig in
            await rig.executor.advance(by: .seconds(61))
            rig.pause(true)
            for _ in 0..<3000 { rig.backend.change("a0") }
            await rig.executor.advance(by: .seconds(60))
            // The connection gets it, but nobody reads it any more.
            rig.backend.change("a1")
            await rig.executor.advance(by: .seconds(1))
            rig.server.isClosing = true
            rig.server.shutdown()
            rig.pause(false)
            await rig.executor.advance(by: .seconds(5))
            rig.server.isClosing = false
            await rig.executor.advance(by: .seconds(200))
            for (channel, version) in [("a0", 3000), ("a1", 1)] {
                let last = rig.words.last { $0.hasPrefix("\(channel) ") }
                #expect(last?.hasPrefix("\(channel) state \(version) ") == true, "\(last ?? "")")
            }
        }
    }

    @Test func `Events taken before a load are delivered before its state, however slow the loop is`() async throws {
        try await rig(channels: 2, connections: 1) { rig in
            await rig.executor.advance(by: .seconds(61))
            rig.pause(true)
            // The loop has the first one, and the second one is on its way to it. What comes then is taken together.
            for _ in 0..<2 {
                rig.backend.change("a1")
                await rig.executor.settle()
            }
            rig.pool.unsubscribe("a0")
            rig.pool.subscribe("a0")
            await rig.executor.settle()
            for channel in ["a1", "a1", "a0"] { rig.backend.change(channel) }
            rig.state.withLock { $0.isSlow = true }
            rig.pause(false)
            await rig.executor.advance(by: .seconds(20))
            #expect(rig.words.suffix(3) == ["a1 event 3", "a1 event 4", "a0 state 1 subscribed again"])
        }
    }

    @Test func `Unread states hold up further loads but no connection`() async throws {
        try await rig(channels: 100, connections: 1) { rig in
            await rig.executor.advance(by: .seconds(61))
            rig.pause(true)
            let before = rig.backend.loads.values.reduce(0, +)
            for round in 0..<5 {
                if round > 0 { rig.server.shutdown() }
                await rig.executor.advance(by: .seconds(70))
                for channel in 0..<100 { rig.backend.change("a\(channel)") }
            }
            #expect(rig.backend.loads.values.reduce(0, +) - before <= 16 + 8)
            rig.pause(false)
            await rig.executor.advance(by: .seconds(300))
            for channel in 0..<100 {
                let last = rig.words.last { $0.hasPrefix("a\(channel) ") }
                #expect(last?.hasPrefix("a\(channel) state 5") == true || last == "a\(channel) event 5", "\(channel)")
            }
        }
    }

    private struct Rig: Sendable {
        let executor: TestExecutor
        let server: InMemoryServer
        let backend: FollowBackend
        let pool: PusherPool
        let stream: PoolFollowStream<Int>
        let state: Locked<(words: [String], isPaused: Bool, isSlow: Bool)>
        /// The status with which authorizations fail; 200 for none.
        let auth: Locked<Int>

        var words: [String] { state.withLock(\.words) }

        func pause(_ isPaused: Bool) { state.withLock { $0.isPaused = isPaused } }
    }

    private func rig(
        channels: Int, connections: Int, others: [String] = [], auth status: Int = 200, isSockudo: Bool = false,
        maximumAge: Duration? = nil, _ body: @escaping @Sendable (Rig) async throws -> Void
    ) async throws {
        try await TestExecutor().run(limit: 50_000_000) { executor in
            let server = InMemoryServer(
                ServerMachine(profile: isSockudo ? .sockudoV2 : .hosted), scheduler: executor.scheduler)
            let backend = FollowBackend(server, executor.clock)
            var options = PusherClientOptions(delivery: .immediate)
            options.logger.logLevel = .critical
            if isSockudo { options.protocol = .sockudo }
            let (auth, signer) = (Locked(status), Signer())
            options.authMethod = .customHandler { socketID, channel in
                let status = auth.withLock(\.self)
                if status != 200 { throw PusherError(.authorization, code: status, message: "no") }
                return try await signer.authorize(socketID: socketID, channelName: channel)
            }
            let pool = PusherPool(
                key: "local-key", connections: connections, options: options,
                environment: PusherEnvironment(
                    scheduler: executor.scheduler, makeWebSocket: { server.makeWebSocket() }, randomSeed: { 1 },
                    spawn: executor.spawn))
            let names = (0..<channels).map { "a\($0)" } + others
            let stream = pool.follow(names, maximumAge: maximumAge) { try await backend.load($0) }
            let state = Locked((words: [String](), isPaused: false, isSlow: false))
            let task: Task<Void, any Error> = executor.spawn {
                for try await step in stream {
                    state.withLock { $0.words.append("\(step.channelName) \(Following.word(step.step))") }
                    if state.withLock(\.isSlow) { try await executor.clock.sleep(for: .seconds(1)) }
                    while state.withLock(\.isPaused) { try await executor.clock.sleep(for: .seconds(1)) }
                }
            }
            pool.connect()
            await executor.advance(by: .seconds(1))
            try await body(
                Rig(
                    executor: executor, server: server, backend: backend, pool: pool, stream: stream, state: state, auth: auth))
            task.cancel()
        }
    }
}
