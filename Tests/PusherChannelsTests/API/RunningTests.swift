import TestSupport
import Testing

@testable import PusherChannels

// On one thread: a second one that still handles the effects of connecting would also handle later effects, at any time.
@Suite(.timeLimit(.lost)) struct RunningTests {
    private func withRun(
        _ body: @escaping @Sendable (ClientRig, Task<Void, any Error>, TestExecutor) async throws -> Void
    ) async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            let running = executor.spawn { try await rig.pusher.run() }
            await executor.settle()
            try await body(rig, running, executor)
        }
    }

    @Test func `A run goes on through any number of lost connections`() async throws {
        try await withRun { rig, running, executor in
            for _ in 0..<150 {
                rig.socket.drop()
                rig.scheduler.advance(by: .seconds(130))
                #expect(rig.pusher.connection.connectionState == .connected)
                #expect(executor.readyCount == 0, "the run's task has nothing to do, which would wait for a thread")
            }
            rig.pusher.disconnect()
            try await running.value
        }
    }

    /// That end may come at any time while the run begins, and later.
    @Test(arguments: [1, 2, .max])
    func `A run isn't ended by the close of an earlier connection, whenever it comes`(look: Int) async throws {
        try await TestExecutor().run { executor in
            let (server, looks) = (InMemoryServer(), LooksAtTheClock())
            let socket = SlowToClose(server.makeWebSocket())
            // Immediate delivery, because another thread's looks at the clock would count, too.
            let pusher = Pusher(
                key: "local-key", options: PusherClientOptions(delivery: .immediate),
                environment: PusherEnvironment(scheduler: looks, makeWebSocket: { socket }, randomSeed: { 1 }))
            pusher.connect()
            pusher.disconnect()
            let (running, hasEnded) = executor.watch {
                looks.at(look) { socket.finishClosing() }
                try await pusher.run()
            }
            await executor.settle()
            if !looks.areOver { socket.finishClosing() }
            await executor.settle()
            #expect(pusher.connection.connectionState == .connected && !hasEnded.withLock { $0 })
            pusher.disconnect()
            socket.finishClosing()
            try await running.value
        }
    }

    /// A canceled run ends when the next one has begun.
    @Test func `A run and its streams go on when an earlier, canceled run ends late`() async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            let socket = SlowToClose(rig.socket)
            rig.pusher.connection.socket = socket
            rig.pusher.subscribe("news")
            let first = executor.spawn { try await rig.pusher.run() }
            await executor.settle()
            first.cancel()
            await executor.settle()
            let (second, hasEnded) = executor.watch { try await rig.pusher.run() }
            let events = rig.pusher.events
            await executor.settle()
            socket.finishClosing()
            try await first.value
            await executor.settle()
            #expect(rig.pusher.connection.connectionState == .connected && !hasEnded.withLock { $0 })
            rig.publish(1..<2)
            rig.pusher.disconnect()
            socket.finishClosing()
            try await second.value
            let heard = try await events.elements().filter { $0.eventName == "n" }
            #expect(heard.map(\.data) == ["1"])
        }
    }

    /// A delegate may connect again, because it hears of the end before the run's task does.
    @Test func `A stream made between a disconnect and the run's return belongs to the next connection`() async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            rig.pusher.subscribe("news")
            let running = executor.spawn { try await rig.pusher.run() }
            let ofTheRun = rig.pusher.events
            await executor.settle()
            rig.pusher.disconnect()
            let later = rig.pusher.events
            rig.pusher.connect()
            try await running.value
            rig.publish(1..<2)
            await rig.pusher.shutdown()
            let (first, second) = (try await ofTheRun.elements(), try await later.elements())
            #expect([first, second].map { $0.count { $0.eventName == "n" } } == [0, 1])
        }
    }

    @Test func `Subscriptions requested between a disconnect and a run's return await the next connection`() async throws {
        try await withRun { rig, running, executor in
            rig.pusher.disconnect()
            let updates = rig.pusher.subscribe("news").updates
            let subscribing = executor.spawn { _ = try await rig.pusher.subscribe(to: "news") }
            try await running.value
            await executor.settle()
            rig.pusher.connect()
            try await subscribing.value
            let words = try await updates.words(count: 1)
            #expect(words == ["subscribed"])
        }
    }

    @Test func `Canceling a run whose connection has already ended leaves the next connection alone`() async throws {
        try await withRun { rig, running, _ in
            rig.pusher.disconnect()
            rig.pusher.connect()
            running.cancel()
            #expect(rig.pusher.connection.connectionState == .connected)
            try await running.value
        }
    }

    @Test func `A run in a task that is already canceled opens no socket and ends the streams`() async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            let events = rig.pusher.events
            let running = executor.spawn { try await rig.pusher.run() }
            running.cancel()
            try await running.value
            let heard = try await events.elements()
            #expect(rig.socket.requests.isEmpty && heard.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `A run or shutdown whose task is canceled still waits for the socket to close`(shutsDown: Bool) async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            let socket = SlowToClose(rig.socket)
            rig.pusher.connection.socket = socket
            rig.pusher.connect()
            let (ending, hasEnded) = executor.watch {
                if shutsDown { await rig.pusher.shutdown() } else { try await rig.pusher.run() }
            }
            // Before the task's first step.
            ending.cancel()
            await executor.settle()
            #expect(rig.pusher.connection.connectionState == .disconnecting && !hasEnded.withLock { $0 })
            socket.finishClosing()
            try await ending.value
            #expect(rig.pusher.connection.connectionState == .disconnected)
        }
    }
}

/// A clock that runs an action on a given look at it.
private final class LooksAtTheClock: Scheduler {
    private let base = TestScheduler()
    private let state = Locked((left: 0, action: Optional<@Sendable () -> Void>.none))

    func at(_ look: Int, _ action: @escaping @Sendable () -> Void) { state.withLock { $0 = (look, action) } }

    var areOver: Bool { state.withLock { $0.action == nil } }

    var now: Instant {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            state.left -= 1
            return state.left == 0 ? state.action.take() : nil
        }
        action?()
        return base.now
    }

    func schedule(at deadline: Instant, label: String, _ action: @escaping @Sendable () -> Void) -> any ScheduledAction {
        base.schedule(at: deadline, label: label, action)
    }
}
