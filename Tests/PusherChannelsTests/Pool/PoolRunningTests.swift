import Dispatch
import Processes
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct PoolRunningTests {
    private func running(_ rig: PoolRig) async throws -> Task<Void, any Error> {
        let task = Task { try await rig.pool.run() }
        try await rig.recorder.next { $0 == .state(.connected) }
        rig.scheduler.advance(by: .seconds(1))
        for _ in 1..<3 { try await rig.recorder.next { $0 == .state(.connected) } }
        return task
    }

    enum Ending: CaseIterable { case disconnect, shutdown, cancel }

    @Test(arguments: Ending.allCases)
    func `Disconnecting, a shutdown, or canceling ends a pool's run, and its streams once read`(ending: Ending) async throws {
        let rig = PoolRig()
        rig.pool.subscribe(PoolRig.names(30))
        let updates = rig.pool.updates
        let task = try await running(rig)
        #expect(rig.states == Array(repeating: .connected, count: 3))
        rig.publish("1", to: PoolRig.names(30))
        switch ending {
        case .disconnect: rig.pool.disconnect()
        case .shutdown: await rig.pool.shutdown()
        case .cancel: task.cancel()
        }
        try await task.value
        #expect(rig.states == Array(repeating: .disconnected, count: 3) && rig.server.connections.isEmpty)
        let (elements, error) = await updates.read()
        #expect(elements.count == 60 && error == nil, "what came before was read")
    }

    @Test func `Disconnecting ends a pool's run even if some connections haven't had their turn`() async throws {
        let rig = PoolRig()
        let task = Task { try await rig.pool.run() }
        try await rig.recorder.next { $0 == .state(.connected) }
        rig.pool.disconnect()
        try await task.value
        #expect(rig.states == Array(repeating: .disconnected, count: 3))
    }

    /// Once the pool is connected again, the close that the cancellation asked for no longer ends it.
    @Test func `A canceled run returns when the pool is connected again, and new streams stay open`() async throws {
        let rig = PoolRig(connections: 1)
        let socket = SlowToClose(rig.server.makeWebSocket())
        rig.pool.connections[0].socket = socket
        let first = Task { try await rig.pool.run() }
        try await rig.recorder.next { $0 == .state(.connected) }
        first.cancel()
        try await rig.recorder.next { $0 == .state(.disconnecting) }
        let updates = rig.pool.updates
        rig.pool.connect()
        try await first.value
        socket.finishClosing()
        #expect(rig.states == [.connected])
        rig.pool.subscribe("news")
        rig.pool.disconnect()
        socket.finishClosing()
        #expect(rig.states == [.disconnected])
        await rig.pool.shutdown()
        #expect(try await updates.elements().count == 1, "the end of a run isn't that of a life that has begun since")
    }

    @Test func `A stream made between two runs of a pool belongs to the second one`() async throws {
        try await TestExecutor().run { executor in
            let rig = PoolRig(connections: 1)
            let running = executor.spawn { try await rig.pool.run() }
            await executor.settle()
            rig.pool.disconnect()
            // The run is over, but its task doesn't know yet.
            let updates = rig.pool.updates
            try await running.value
            rig.pool.subscribe("news")
            rig.pool.connect()
            #expect(try await updates.elements(1).map(\.channelName) == ["news"])
        }
    }

    /// A delegate may connect the pool again when it hears that the other connections are disconnected.
    @Test func `A failed run ends no streams if the pool has been connected again in the meantime`() async throws {
        let rig = PoolRig(connections: 2)
        rig.pool.subscribe("news")
        let task = Task { try await rig.pool.run() }
        try await rig.recorder.next { $0 == .state(.connected) }
        rig.scheduler.advance(by: .seconds(1))
        try await rig.recorder.next { $0 == .state(.connected) }
        let owner = try #require(rig.pool.connections.firstIndex { $0.channels.all.contains { $0.name == "news" } })
        let events = Locked<PusherStream<PusherEvent>?>(nil)
        let delegate = ConnectingAgain { [weak pool = rig.pool] in
            events.withLock { $0 = pool?.channel(named: "news")?.events }
            pool?.connect()
        }
        rig.pool.delegate = delegate
        rig.sockets.withLock(\.self)[1 - owner].serverCloses(code: 4001, reason: "no such app")
        await #expect(throws: PusherError.self) { try await task.value }
        rig.scheduler.advance(by: .seconds(1))
        rig.server.publish(channel: "news", event: "price", data: "1")
        await rig.pool.shutdown()
        let heard = try await #require(events.withLock { $0 }).elements()
        #expect(heard.contains { $0.data == "1" })
        withExtendedLifetime(delegate) {}
    }

    /// A delegate on its own queue may hear of a failure before the pool does and connect the pool again.
    @Test(arguments: [0, 1]) func `A connection's failure from before the pool was connected again ends nothing`(number: Int) {
        let rig = PoolRig(connections: 2)
        rig.pool.connect()
        rig.scheduler.advance(by: .seconds(1))
        rig.pool.disconnect()
        rig.pool.connect()
        let failure = PusherError(.server, code: 4001, message: "no such app")
        // The first connection is connected again, the second waits its turn.
        rig.pool.disconnected(rig.pool.clients[number], because: failure)
        rig.scheduler.advance(by: .seconds(1))
        #expect(rig.states == [.connected, .connected])
    }

    /// This holds for all connections, not only for the one that was given up.
    @Test func `A pool's stream delivers everything that came before a failure, then throws`() async throws {
        let rig = PoolRig()
        rig.pool.subscribe(PoolRig.names(30))
        let updates = rig.pool.updates
        let task = try await running(rig)
        for round in 0..<5 { rig.publish("\(round)", to: PoolRig.names(30)) }
        rig.sockets.withLock(\.self)[1].serverCloses(code: 4001, reason: "no such app")
        await #expect(throws: PusherError.self) { try await task.value }
        let (elements, error) = await updates.read()
        #expect(elements.count { if case .event = $0.update { true } else { false } } == 150 && error?.code == 4001)
    }

    @Test func `A pool requests authorization for a refused channel each time it is subscribed again`() {
        let asked = Locked(0)
        let rig = PoolRig.connected(channels: 0) {
            $0.authMethod = .asking { reply in
                asked.withLock { $0 += 1 }
                reply(nil)
            }
        }
        for _ in 0..<3 { rig.pool.subscribe("private-orders") }
        #expect(asked.withLock { $0 } == 3)
    }

    @Test func `A pool can be run again, and each run ends for its own reason`() async throws {
        let rig = PoolRig()
        for code in [4001, 4004] as [UInt16] {
            let task = try await running(rig)
            rig.sockets.withLock(\.self).suffix(3)[0].serverCloses(code: code, reason: "no such app")
            let error = await #expect(throws: PusherError.self) { try await task.value }
            #expect(error?.code == Int(code))
            #expect(rig.states == Array(repeating: .disconnected, count: 3))
        }
        let task = try await running(rig)
        rig.pool.disconnect()
        try await task.value
    }

    @Test func `A pool that was shut down never connects, and its run and streams end at once`() async throws {
        let rig = PoolRig()
        await rig.pool.shutdown()
        try await rig.pool.run()
        rig.pool.connect()
        rig.scheduler.advance(by: .seconds(1))
        #expect(rig.states == Array(repeating: .disconnected, count: 3))
        // A second run, after a connect() in vain, doesn't wait either.
        try await rig.pool.run()
        #expect(try await rig.pool.updates.elements().isEmpty)
    }

    @Test func `A run whose task was canceled before it began makes no connection`() async throws {
        try await TestExecutor().run { executor in
            let rig = PoolRig()
            let updates = rig.pool.updates
            let running = executor.spawn { try await rig.pool.run() }
            running.cancel()
            try await running.value
            let elements = try await updates.elements()
            #expect(rig.sockets.withLock(\.self).flatMap(\.requests).isEmpty && elements.isEmpty)
        }
    }

    @Test func `A failing run doesn't throw before all connections are disconnected`() async throws {
        try await TestExecutor().run { executor in
            let rig = PoolRig(connections: 2)
            let running = executor.spawn { try await rig.pool.run() }
            await executor.settle()
            rig.scheduler.advance(by: .seconds(1))
            let ready = Locked<Int?>(nil)
            // The first end is that of the connection asked to disconnect; the failed connection's own end comes after that.
            let delegate = ConnectingAgain { ready.withLock { $0 = executor.readyCount } }
            rig.pool.delegate = delegate
            rig.sockets.withLock(\.self)[0].serverCloses(code: 4001, reason: "no such app")
            #expect(ready.withLock(\.self) == 0)
            await #expect(throws: PusherError.self) { try await running.value }
            withExtendedLifetime(delegate) {}
        }
    }

    @Test func `A pool's run returns once the shutdown has delivered everything that was read`() async throws {
        try await TestExecutor().run { executor in
            let (queue, gate) = (DispatchQueue(label: "slow"), DispatchSemaphore(value: 0))
            let rig = PoolRig(connections: 1) { $0.delivery = .queue(queue) }
            let heard = Locked(0)
            rig.pool.subscribe("news")
            rig.pool.channel(named: "news")?.bind(eventName: "price") { _ in heard.withLock { $0 += 1 } }
            @Sendable func run() -> Task<Int, any Error> {
                Task(executorPreference: executor) {
                    try await rig.pool.run()
                    return heard.withLock(\.self)
                }
            }
            let running = run()
            await executor.settle()
            queue.async { gate.wait() }
            for _ in 0..<10 { rig.publish("1", to: ["news"]) }
            let shutdown = executor.spawn { await rig.pool.shutdown() }
            await executor.settle()
            #expect(rig.states == [.disconnected])
            let late = run()
            await executor.settle()
            gate.signal()
            queue.sync {}
            await shutdown.value
            for task in [running, late] {
                let count = try await task.value
                #expect(count == 10)
            }
        }
    }

    @Test func `A pool can be changed from a callback of one of its channels`() {
        let rig = PoolRig.connected(connections: 2, channelsPerConnection: 20, channels: 1)
        let pool = rig.pool
        pool.channel(named: "prices-0")?.bind(eventName: "price") { [weak pool] _ in
            pool?.subscribe((0..<50).map { "more-\($0)" })
            pool?.resize(to: 5)
            pool?.unsubscribe("prices-0")
        }
        rig.publish("1", to: ["prices-0"])
        rig.scheduler.advance(by: .seconds(1))
        #expect(pool.channels.count == 50 && rig.isSubscribed && pool.connections.count == 5)
    }

    @Test func `A released pool leaves no timers of connections that wait for their turn`() {
        let scheduler = TestScheduler()
        do {
            let environment = PusherEnvironment(scheduler: scheduler, makeWebSocket: { MockWebSocket(server: .manual) })
            let pool = PusherPool(key: "k", connections: 3, attemptsPerSecond: 1, environment: environment)
            pool.connect()
            #expect(scheduler.pendingTimers.contains { $0.label == "connection 2 of a pool" })
        }
        #expect(scheduler.pendingTimers.isEmpty)
    }

    @Test func `A released pool disconnects all of its connections`() {
        weak var pool: PusherPool?
        let (scheduler, sockets) = {
            let rig = PoolRig.connected(connections: 2, channels: 0)
            pool = rig.pool
            return (rig.scheduler, rig.sockets)
        }()
        #expect(pool == nil && scheduler.pendingTimers.isEmpty)
        #expect(sockets.withLock(\.self).map(\.isOpen) == [false, false])
    }
}

/// A delegate that runs a closure once, when the first connection is disconnected.
private final class ConnectingAgain: PusherDelegate, Sendable {
    private let body: Locked<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = Locked(body)
    }

    func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
        if new == .disconnected { body.withLock { $0.take() }?() }
    }
}
