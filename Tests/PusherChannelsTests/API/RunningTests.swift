import Dispatch
import TestSupport
import Testing

@testable import PusherChannels

/// `run()` and `shutdown(within:)`.
@Suite(.timeLimit(.lost)) struct RunningTests {
    private func rig(_ change: (inout PusherClientOptions) -> Void = { _ in }) -> ClientRig {
        ClientRig(change)
    }

    private func waitUntilConnected(_ rig: ClientRig) async throws {
        try await rig.recorder.next { $0 == .state(.connected) }
    }

    @Test func runConnectsAndEndsWithTheTask() async throws {
        let rig = rig()
        let running = Task { try await rig.pusher.run() }
        try await waitUntilConnected(rig)
        running.cancel()
        try await running.value
        #expect(rig.pusher.connection.connectionState == .disconnected)
    }

    #if !canImport(Darwin)  // There, the executor needs a newer system than the package does.

    // On one thread: another one that still did what connecting led to would do what follows, too, whenever it could.

    @Test func runSurvivesLostConnections() async throws {
        try await TestExecutor().run { executor in
            let rig = rig()
            let running = Task(executorPreference: executor) { try await rig.pusher.run() }
            await executor.settle()
            for _ in 0..<150 {
                rig.socket.drop()
                rig.scheduler.advance(by: .seconds(130))
                #expect(rig.pusher.connection.connectionState == .connected)
            }
            rig.pusher.disconnect()
            try await running.value
        }
    }

    @Test func shutdownGivesUpChannelsAndCloses() async throws {
        try await TestExecutor().run { executor in
            let rig = rig()
            rig.pusher.subscribe("news")
            let running = Task(executorPreference: executor) { try await rig.pusher.run() }
            await executor.settle()
            let events = rig.pusher.events
            rig.socket.publish(channel: "news", event: "last", data: "1")
            await rig.pusher.shutdown()
            try await running.value
            #expect(rig.socket.frames.last?.event == "pusher:unsubscribe")
            #expect(!rig.socket.isOpen)
            var names: [String] = []
            for try await event in events { names.append(event.eventName) }
            #expect(names == ["last"], "what came before can still be read, then the stream ends")
            #expect(rig.scheduler.pendingTimers.isEmpty)
        }
    }

    @Test func theEndOfAnEarlierConnectionIsNotItsOwn() async throws {
        try await TestExecutor().run { executor in
            let rig = rig()
            let socket = SlowToClose(rig.socket)
            rig.pusher.connection.socket = socket
            rig.pusher.connect()
            rig.pusher.disconnect()
            let hasEnded = Locked(false)
            let running = Task(executorPreference: executor) {
                try await rig.pusher.run()
                hasEnded.withLock { $0 = true }
            }
            await executor.settle()
            socket.finishClosing()
            #expect(rig.pusher.connection.connectionState == .connected)
            await executor.settle()
            #expect(!hasEnded.withLock { $0 })
            rig.pusher.disconnect()
            socket.finishClosing()
            try await running.value
        }
    }

    /// Whenever that end comes, while the run begins.
    @Test(arguments: 1...4) func theEndOfAnEarlierConnectionWhileItBeginsIsNotItsOwn(look: Int) async throws {
        try await TestExecutor().run { executor in
            let (server, looks) = (InMemoryServer(), LooksAtTheClock())
            let socket = SlowToClose(server.makeWebSocket())
            // At once: another thread's looks at the clock would count, too.
            let pusher = Pusher(
                key: "local-key", options: PusherClientOptions(delivery: .immediate),
                environment: PusherEnvironment(scheduler: looks, makeWebSocket: { socket }, randomSeed: { 1 }))
            pusher.connect()
            pusher.disconnect()
            let hasEnded = Locked(false)
            let running = Task(executorPreference: executor) {
                looks.at(look) { socket.finishClosing() }
                try await pusher.run()
                hasEnded.withLock { $0 = true }
            }
            await executor.settle()
            if !looks.areOver { socket.finishClosing() }
            await executor.settle()
            #expect(pusher.connection.connectionState == .connected)
            #expect(!hasEnded.withLock { $0 })
            pusher.disconnect()
            socket.finishClosing()
            try await running.value
        }
    }

    /// One that was cancelled ends when the next has begun.
    @Test func theEndOfAnEarlierRunIsNotTheNextOnes() async throws {
        try await TestExecutor().run { executor in
            let rig = rig()
            let socket = SlowToClose(rig.socket)
            rig.pusher.connection.socket = socket
            rig.pusher.subscribe("news")
            let first = Task(executorPreference: executor) { try await rig.pusher.run() }
            await executor.settle()
            first.cancel()
            await executor.settle()
            let hasEnded = Locked(false)
            let second = Task(executorPreference: executor) {
                try await rig.pusher.run()
                hasEnded.withLock { $0 = true }
            }
            let events = rig.pusher.events
            await executor.settle()
            socket.finishClosing()
            try await first.value
            await executor.settle()
            #expect(rig.pusher.connection.connectionState == .connected)
            #expect(!hasEnded.withLock { $0 })
            rig.socket.publish(channel: "news", event: "e", data: "{}")
            rig.pusher.disconnect()
            socket.finishClosing()
            try await second.value
            var count = 0
            for try await event in events where event.eventName == "e" { count += 1 }
            #expect(count == 1)
        }
    }

    /// As a delegate may, that hears of the end first.
    @Test func theEndOfARunIsNotThatOfALifeThatHasBegunSince() async throws {
        try await TestExecutor().run { executor in
            let rig = rig()
            rig.pusher.subscribe("news")
            let running = Task(executorPreference: executor) { try await rig.pusher.run() }
            let events = rig.pusher.events
            await executor.settle()
            rig.pusher.disconnect()
            rig.pusher.connect()
            try await running.value
            rig.socket.publish(channel: "news", event: "e", data: "{}")
            await rig.pusher.shutdown()
            var count = 0
            for try await event in events where event.eventName == "e" { count += 1 }
            #expect(count == 1)
        }
    }

    @Test(arguments: [false, true]) func aCancelledTaskWaitsForTheCloseToo(shutsDown: Bool) async throws {
        try await TestExecutor().run { executor in
            let rig = rig()
            let socket = SlowToClose(rig.socket)
            rig.pusher.connection.socket = socket
            rig.pusher.connect()
            let hasEnded = Locked(false)
            let ending = Task(executorPreference: executor) {
                if shutsDown { await rig.pusher.shutdown() } else { try await rig.pusher.run() }
                hasEnded.withLock { $0 = true }
            }
            // Before its first step.
            ending.cancel()
            await executor.settle()
            #expect(rig.pusher.connection.connectionState == .disconnecting)
            #expect(!hasEnded.withLock { $0 })
            socket.finishClosing()
            try await ending.value
            #expect(rig.pusher.connection.connectionState == .disconnected)
        }
    }

    #endif

    @Test func whatEndsTheConnectionForGoodIsThrown() async throws {
        let rig = rig()
        let running = Task { try await rig.pusher.run() }
        try await waitUntilConnected(rig)
        rig.socket.serverCloses(code: 4001, reason: "no such app")
        let error = await #expect(throws: PusherError.self) { try await running.value }
        #expect(error?.code == 4001)
    }

    @Test func shutdownWaitsForWhatIsStillToBeDelivered() async {
        let queue = DispatchQueue(label: "slow")
        let gate = DispatchSemaphore(value: 0)
        let rig = rig { $0.delivery = .queue(queue) }
        let heard = Locked(0)
        rig.pusher.subscribe("news").bind(eventName: "n") { _ in heard.withLock { $0 += 1 } }
        rig.pusher.connect()
        queue.async { gate.wait() }
        for _ in 0..<10 { rig.socket.publish(channel: "news", event: "n", data: "1") }
        gate.signal()
        await rig.pusher.shutdown()
        #expect(heard.withLock { $0 } == 10)
    }

    /// At once, and still at it.
    @Test func shutdownWaitsForWhatAnotherThreadDelivers() async throws {
        try await TestExecutor().run { executor in
            let queue = DispatchQueue(label: "reader")
            let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let rig = ClientRig.connected()
            let heard = Locked<[String?]>([])
            rig.pusher.subscribe("news").bind(eventName: "n") { event in
                heard.withLock { $0.append(event.data) }
                entered.signal()
                gate.wait()
            }
            let (core, attempt) = (rig.pusher.connection.core, try #require(rig.socket.currentAttempt))
            @Sendable func bring(_ data: [String]) {
                let messages = data.map { Array(#"{"event":"n","channel":"news","data":"\#($0)"}"#.utf8) }
                MessageBatch.with(messages.map { (.text, $0) }, .told(age: .zero)) {
                    core.webSocketDidReceive($0, attempt: attempt)
                }
            }
            queue.async { bring(["1"]) }
            DispatchQueue.global().sync { entered.wait() }
            bring(["2", "3"])
            let isOver = Locked(false)
            let shutdown = executor.spawn {
                await rig.pusher.shutdown()
                isOver.withLock { $0 = true }
            }
            await executor.settle()
            gate.signal()
            DispatchQueue.global().sync { entered.wait() }
            #expect(rig.pusher.connection.connectionState == .disconnected)
            await executor.settle()
            #expect(!isOver.withLock { $0 })
            for _ in 0..<2 { gate.signal() }
            queue.sync {}
            await shutdown.value
            #expect(heard.withLock { $0 } == ["1", "2", "3"])
        }
    }

    /// What another thread has to decrypt, which is busy with something else.
    @Test func shutdownWaitsForWhatIsStillToBeDecrypted() async throws {
        try await TestExecutor().run { executor in
            let queue = DispatchQueue(label: "reader")
            let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let rig = ClientRig.connected(auth: .inline(secret: "secret", encryptionMasterKey: EncryptedChannelTests.masterKey))
            let events = rig.pusher.subscribe("private-encrypted-orders").events(named: "placed")
            rig.pusher.subscribe("news").bind(eventName: "n") { _ in
                entered.signal()
                gate.wait()
            }
            queue.async { rig.socket.publish(channel: "news", event: "n", data: "1") }
            DispatchQueue.global().sync { entered.wait() }
            let event = #"{"event":"placed","channel":"private-encrypted-orders","data":"\#(EncryptedChannelTests.event)"}"#
            let (core, attempt) = (rig.pusher.connection.core, try #require(rig.socket.currentAttempt))
            MessageBatch.with(Array(repeating: (.text, Array(event.utf8)), count: 2), .told(age: .zero)) {
                core.webSocketDidReceive($0, attempt: attempt)
            }
            // Without a connection nothing else is waited for.
            core.webSocketDidClose(.failed(WebSocketFailure(.connectionLost, "")), attempt: attempt)
            let isOver = Locked(false)
            let shutdown = executor.spawn {
                await rig.pusher.shutdown()
                isOver.withLock { $0 = true }
            }
            await executor.settle()
            #expect(!isOver.withLock { $0 })
            gate.signal()
            queue.sync {}
            await shutdown.value
            var count = 0
            for try await _ in events { count += 1 }
            #expect(count == 2)
        }
    }

    @Test func shutdownWaitsNoLongerThanItMay() async throws {
        let queue = DispatchQueue(label: "stuck")
        let gate = DispatchSemaphore(value: 0)
        let lines = Locked<[String]>([])
        let rig = rig {
            $0.delivery = .queue(queue)
            $0.logger = LineRecorder.logger(lines)
        }
        queue.async { gate.wait() }
        rig.pusher.connect()
        let shutdown = Task { await rig.pusher.shutdown(within: .seconds(3)) }
        await rig.scheduler.waitForTimer(labeled: "shutdown")
        rig.scheduler.advance(by: .seconds(3))
        await shutdown.value
        let undelivered = lines.withLock { $0.filter { $0.contains(LogMessage.undelivered.rawValue) } }
        #expect(undelivered.count == 1 && undelivered[0].hasPrefix("warning [") && undelivered[0].contains(" count="))
        gate.signal()
    }

    @Test func shutdownThatDeliversAllSaysNothing() async {
        let lines = Locked<[String]>([])
        let rig = rig { $0.logger = LineRecorder.logger(lines) }
        rig.pusher.connect()
        await rig.pusher.shutdown()
        #expect(lines.withLock { !$0.contains { $0.contains(LogMessage.undelivered.rawValue) } })
    }

    @Test func whoHadNotReadEverythingHoldsUpNobodyAfterwards() async {
        let rig = rig()
        let stream = rig.pusher.events(buffering: StreamBuffering(limit: 1))
        rig.pusher.subscribe("news")
        rig.pusher.connect()
        rig.socket.publish(channel: "news", event: "n", data: "1")
        #expect(!rig.socket.isReading)
        await rig.pusher.shutdown()
        #expect(rig.pusher.connection.core.readState(\.streams.over) == 0)
        withExtendedLifetime(stream) {}
    }

    /// As where a service is asked to end before it has begun.
    @Test func shutdownIsFinalAlsoWhereItComesFirst() async throws {
        let rig = rig()
        await rig.pusher.shutdown()
        #expect(rig.pusher.connection.connectionState == .disconnected)
        try await rig.pusher.run()
        rig.pusher.connect()
        #expect(rig.pusher.connection.connectionState == .disconnected)
        #expect(rig.socket.requests.isEmpty)
        await #expect(throws: PusherError.clientEnded) { try await rig.pusher.subscribe(to: "news") }
    }

    @Test func theEndOfRunIsThatOfItsStreams() async throws {
        let rig = rig()
        let (events, updates) = (rig.pusher.events, rig.pusher.subscribe("news").updates)
        let running = Task { try await rig.pusher.run() }
        try await waitUntilConnected(rig)
        rig.pusher.disconnect()
        try await running.value
        for try await _ in events {}
        for try await _ in updates {}
        var later = rig.pusher.subscribe("news").events(named: "n").makeAsyncIterator()
        rig.pusher.connect()
        rig.socket.publish(channel: "news", event: "n", data: "1")
        #expect(try await later.next()?.data == "1", "a stream that is made later is for the next run")
    }
}

/// A clock that does something when it is looked at for a certain time.
private final class LooksAtTheClock: Scheduler {
    private struct State {
        var left = 0
        var action: (@Sendable () -> Void)?
    }

    private let base = TestScheduler()
    private let state = Locked(State())

    func at(_ look: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(left: look, action: action) }
    }

    /// Tells whether it was done.
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
