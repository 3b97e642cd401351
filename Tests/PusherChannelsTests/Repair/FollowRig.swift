import Foundation
import Logging
import TestSupport
import Testing

@testable import PusherChannels

/// What the application's own backend has: a version for each channel, committed before it is published.
@dynamicMemberLookup
final class FollowBackend: Sendable {
    struct Down: Error, CustomStringConvertible { let description = "down" }

    struct State {
        var versions: [String: Int] = [:]
        var loadTime = Duration.zero
        var (failures, cancelled, underWay, mostUnderWay) = (0, 0, 0, 0)
        var loads: [String: Int] = [:]
        /// Draws which loads fail, and how long they take.
        var random: SplitMix64?
    }

    private let state = Locked(State())
    private let server: InMemoryServer
    private let clock: TestClock

    init(_ server: InMemoryServer, _ clock: TestClock) {
        (self.server, self.clock) = (server, clock)
    }

    subscript<Value>(dynamicMember part: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: part] } }
        set { state.withLock { $0[keyPath: part] = newValue } }
    }

    /// Makes a third of the loads fail, and each take up to two seconds.
    func becomeUnreliable(seed: UInt64) { state.withLock { $0.random = SplitMix64(seed: seed) } }
    func becomeReliable() { state.withLock { $0.random = nil } }

    func version(_ channel: String) -> Int { state.withLock { $0.versions[channel, default: 0] } }

    func change(_ channel: String) {
        let version = changeSilently(channel)
        if !server.subscribers(of: channel).isEmpty { server.publish(channel: channel, event: "n", data: "\(version)") }
    }

    /// Commits a change, whose publish is lost.
    @discardableResult
    func changeSilently(_ channel: String) -> Int {
        state.withLock { state in
            state.versions[channel, default: 0] += 1
            return state.versions[channel, default: 0]
        }
    }

    func load(_ channel: String) async throws -> Int {
        let (time, fails) = state.withLock { state in
            state.loads[channel, default: 0] += 1
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
            state.failures -= 1
            guard var random = state.random else { return (state.loadTime, state.failures >= 0) }
            defer { state.random = random }
            return (.milliseconds(Int.random(in: 0...2000, using: &random)), Int.random(in: 0..<3, using: &random) == 0)
        }
        defer { state.withLock { $0.underWay -= 1 } }
        do {
            try await clock.sleep(for: time / 2)
            if fails { throw Down() }
            let version = version(channel)
            try await clock.sleep(for: time / 2)
            return version
        } catch is CancellationError {
            state.withLock { $0.cancelled += 1 }
            throw CancellationError()
        }
    }
}

/// A copy that a loop keeps, and the steps it was given.
@dynamicMemberLookup
final class Following: Sendable {
    struct Store {
        var version: Int?
        /// The first event that can't be applied: one before it is missing.
        var problem: String?

        mutating func apply(_ step: FollowStep<Int>) {
            switch step {
            case .state(let new, _):
                version = new
            case .event(let event):
                guard let new = event.data.flatMap({ Int($0) }), let old = version else {
                    return problem = problem ?? "an event before a state"
                }
                if new > old + 1 { problem = problem ?? "\(new) after \(old)" }
                version = max(new, old)
            case .failed: break
            }
        }
    }

    struct State {
        var store = Store()
        var words: [String] = []
        var isOver = false
        var error: (any Error)?
        var pause = Duration.zero
    }

    let stream: FollowStream<Int>
    private let state = Locked(State())
    private let running = Locked(Task {})

    var task: Task<Void, Never> { running.withLock(\.self) }

    subscript<Value>(dynamicMember part: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: part] } }
        set { state.withLock { $0[keyPath: part] = newValue } }
    }

    init(_ stream: FollowStream<Int>, on executor: TestExecutor) {
        self.stream = stream
        let task: Task<Void, Never> = executor.spawn { [self] in
            do {
                for try await step in stream {
                    state.withLock { state in
                        state.store.apply(step)
                        state.words.append(Self.word(step))
                    }
                    if self.pause > .zero { try await executor.clock.sleep(for: self.pause) }
                }
            } catch {
                state.withLock { $0.error = error }
            }
            state.withLock { $0.isOver = true }
        }
        running.withLock { $0 = task }
    }

    static func word(_ step: FollowStep<Int>) -> String {
        switch step {
        case .state(let version, let reason): "state \(version) \(reason)"
        case .event(let event): "event \(event.data ?? "")"
        case .failed(let error): "failed \(error)"
        }
    }
}

/// A client of a server in memory and of a backend, on one executor in virtual time.
struct FollowRig: Sendable {
    struct Unexpected: Error {}

    static let isSimulation = ProcessInfo.processInfo.environment["SIMULATE_SEEDS"] != nil

    let executor: TestExecutor
    let server: InMemoryServer
    let backend: FollowBackend
    let pusher: Pusher
    /// The status with which the authorization fails; 200 for none.
    let auth = Locked(200)

    private init(_ executor: TestExecutor, seed: UInt64, isSockudo: Bool) {
        self.executor = executor
        let machine = ServerMachine(profile: isSockudo ? .sockudoV2 : .hosted)
        let server = InMemoryServer(machine, scheduler: executor.scheduler)
        (self.server, backend) = (server, FollowBackend(server, executor.clock))
        let (auth, signer) = (auth, Signer())
        var options = PusherClientOptions(delivery: .immediate)
        options.logger.logLevel = .critical
        if isSockudo { options.protocol = .sockudo }
        options.authMethod = .customHandler { socketID, channel in
            let status = auth.withLock(\.self)
            if status != 200 { throw PusherError(.authorization, code: status, message: "no") }
            return try await signer.authorize(socketID: socketID, channelName: channel)
        }
        pusher = Pusher(
            key: "local-key", options: options,
            environment: PusherEnvironment(
                scheduler: executor.scheduler, makeWebSocket: { server.makeWebSocket() }, randomSeed: { seed },
                spawn: executor.spawn))
        pusher.connect()
    }

    static func run(
        seed: UInt64 = 1, isSockudo: Bool = false, _ body: @escaping @Sendable (FollowRig) async throws -> Void
    ) async throws {
        try await TestExecutor().run(limit: 50_000_000) { try await body(FollowRig($0, seed: seed, isSockudo: isSockudo)) }
    }

    /// Runs a body with a loop that follows `private-orders`, until the body ends.
    static func follow(
        loadTime: Duration = .zero, failures: Int = 0, buffering: StreamBuffering = StreamBuffering(overflow: .pauseThenDrop),
        maximumAge: Duration? = nil, covers: (@Sendable (Int, PusherEvent) -> Bool)? = nil, isSockudo: Bool = false,
        _ body: @escaping @Sendable (FollowRig, Following) async throws -> Void
    ) async throws {
        try await run(isSockudo: isSockudo) { rig in
            (rig.backend.loadTime, rig.backend.failures) = (loadTime, failures)
            let following = rig.follow("private-orders", buffering: buffering, maximumAge: maximumAge, covers: covers)
            try await body(rig, following)
            following.task.cancel()
        }
    }

    func follow(
        _ channel: String, buffering: StreamBuffering = StreamBuffering(overflow: .pauseThenDrop), maximumAge: Duration? = nil,
        covers: (@Sendable (Int, PusherEvent) -> Bool)? = nil
    ) -> Following {
        let stream = pusher.follow(channel, buffering: buffering, maximumAge: maximumAge, covers: covers) { [backend] in
            try await backend.load(channel)
        }
        return Following(stream, on: executor)
    }

    /// Restarts the server at random moments, while loads fail one time in three and changes come at any moment. At the end,
    /// every copy equals the truth, and none missed an event without a state after it.
    static func storm(seed: UInt64, channels: Int, restarts: Int) async throws {
        try await run(seed: seed) { rig in
            var random = SplitMix64(seed: seed)
            let names = (0..<channels).map { "private-orders-\($0)" }
            let followings = names.map { rig.follow($0) }
            rig.backend.becomeUnreliable(seed: seed)
            for _ in 0..<restarts {
                for _ in 0..<Int.random(in: 1...20, using: &random) {
                    for _ in 0..<channels / 5 { rig.backend.change(names[.random(in: 0..<channels, using: &random)]) }
                    await rig.executor.advance(by: .milliseconds(Int.random(in: 0...3000, using: &random)))
                }
                rig.server.shutdown()
            }
            rig.backend.becomeReliable()
            await rig.executor.advance(by: .seconds(300))
            for (name, following) in zip(names, followings) {
                #expect(following.store.problem == nil, "\(name): \(following.words.suffix(20))")
                #expect(following.store.version == rig.backend.version(name), "\(name): \(following.words.suffix(20))")
                following.task.cancel()
            }
            #expect(rig.backend.mostUnderWay <= 8)
        }
    }
}
