import Dispatch
import Processes
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct ShutdownTests {
    @Test func `A shutdown unsubscribes channels, closes the socket, and ends streams after the last event`() async throws {
        try await TestExecutor().run { executor in
            let rig = ClientRig()
            rig.pusher.subscribe("news")
            let running = executor.spawn { try await rig.pusher.run() }
            await executor.settle()
            let events = rig.pusher.events
            rig.socket.publish(channel: "news", event: "last", data: "1")
            await rig.pusher.shutdown()
            try await running.value
            #expect(rig.socket.frames.last?.event == "pusher:unsubscribe")
            #expect(!rig.socket.isOpen && rig.scheduler.pendingTimers.isEmpty)
            let read = await events.read()
            #expect(read.elements.map(\.eventName) == ["last"] && read.error == nil, "what came before can still be read")
        }
    }

    @Test func `Subscribing after a shutdown subscribes to nothing and is logged, and nothing as undelivered`() async {
        let lines = Locked<[String]>([])
        let rig = ClientRig.connected { $0.logger = LineRecorder.logger(lines) }
        await rig.pusher.shutdown()
        #expect(lines.withLock { !$0.contains { $0.contains(LogMessage.undelivered.rawValue) } })
        #expect(!rig.pusher.subscribe("news").subscribed)
        #expect(lines.withLock(\.last)?.contains("the client was shut down") == true)
        #expect(rig.pusher.connection.core.read(\.subscriptions).isEmpty)
    }

    /// Otherwise a program whose last line is `run()` would lose messages that were already read.
    @Test func `A run returns only after a shutdown has delivered everything that was read`() async throws {
        try await TestExecutor().run { executor in
            let (queue, gate) = (DispatchQueue(label: "slow"), DispatchSemaphore(value: 0))
            let rig = ClientRig { $0.delivery = .queue(queue) }
            let heard = Locked(0)
            rig.pusher.subscribe("news").bind(eventName: "n") { _ in heard.withLock { $0 += 1 } }
            let running = Task(executorPreference: executor) {
                try await rig.pusher.run()
                return heard.withLock(\.self)
            }
            await executor.settle()
            queue.async { gate.wait() }
            rig.publish(0..<10)
            let shutdown = executor.spawn { await rig.pusher.shutdown() }
            await executor.settle()
            #expect(rig.pusher.connection.connectionState == .disconnected)
            gate.signal()
            queue.sync {}
            await shutdown.value
            let count = try await running.value
            #expect(count == 10)
        }
    }

    @Test func `With immediate delivery, a shutdown waits for events that another thread delivers`() async throws {
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
            @Sendable func bring(_ data: [String]) {
                rig.read(data.map { #"{"event":"n","channel":"news","data":"\#($0)"}"# })
            }
            queue.async { bring(["1"]) }
            DispatchQueue.global().sync { entered.wait() }
            bring(["2", "3"])
            let (shutdown, isOver) = executor.watch { await rig.pusher.shutdown() }
            await executor.settle()
            gate.signal()
            DispatchQueue.global().sync { entered.wait() }
            #expect(rig.pusher.connection.connectionState == .disconnected)
            await executor.settle()
            #expect(!isOver.withLock { $0 })
            for _ in 0..<2 { gate.signal() }
            queue.sync {}
            try await shutdown.value
            #expect(heard.withLock { $0 } == ["1", "2", "3"])
        }
    }

    @Test func `A shutdown waits for events that are still to be decrypted`() async throws {
        try await TestExecutor().run { executor in
            let queue = DispatchQueue(label: "reader")
            let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let rig = ClientRig.connected(auth: .inline(secret: "secret", encryptionMasterKey: EncryptedChannelTests.masterKey))
            let events = rig.pusher.subscribe("private-encrypted-orders").events(named: "placed")
            rig.pusher.subscribe("news").bind(eventName: "n") { _ in
                entered.signal()
                gate.wait()
            }
            queue.async { rig.publish(0..<1) }
            DispatchQueue.global().sync { entered.wait() }
            let attempt = try #require(rig.socket.currentAttempt)
            rig.read([EncryptedChannelTests.message(), EncryptedChannelTests.message()])
            // Without a connection, the shutdown waits for nothing else.
            rig.pusher.connection.core.webSocketDidClose(.failed(TransportError(.connectionLost, "")), attempt: attempt)
            let (shutdown, isOver) = executor.watch { await rig.pusher.shutdown() }
            await executor.settle()
            #expect(!isOver.withLock { $0 })
            gate.signal()
            queue.sync {}
            try await shutdown.value
            let count = try await events.elements().count
            #expect(count == 2)
        }
    }

    private func shutDown(_ rig: ClientRig, within limit: Duration) async {
        let shutdown = Task { await rig.pusher.shutdown(within: limit) }
        await rig.scheduler.waitForTimer(labeled: "shutdown")
        rig.scheduler.advance(by: limit)
        await shutdown.value
    }

    @Test func `A shutdown returns at its time limit and logs the number of undelivered messages`() async throws {
        let (queue, gate) = (DispatchQueue(label: "stuck"), DispatchSemaphore(value: 0))
        let lines = Locked<[String]>([])
        let rig = ClientRig { ($0.delivery, $0.logger) = (.queue(queue), LineRecorder.logger(lines)) }
        queue.async { gate.wait() }
        rig.pusher.connect()
        await shutDown(rig, within: .seconds(3))
        let undelivered = lines.withLock { $0.filter { $0.contains(LogMessage.undelivered.rawValue) } }
        #expect(undelivered.count == 1 && undelivered[0].hasPrefix("warning [") && undelivered[0].contains(" count="))
        gate.signal()
    }

    @Test func `After a shutdown that ran out of time, run() doesn't wait for the socket to close`() async throws {
        let rig = ClientRig()
        rig.pusher.connection.socket = SlowToClose(rig.socket)
        rig.pusher.connect()
        await shutDown(rig, within: .seconds(1))
        #expect(rig.pusher.connection.connectionState == .disconnecting)
        try await rig.pusher.run()
    }

    @Test func `A stream with unread events at a shutdown no longer counts as a slow reader`() async {
        let rig = ClientRig.connected()
        let stream = rig.pusher.events(buffering: StreamBuffering(limit: 1))
        rig.pusher.subscribe("news")
        rig.publish(0..<1)
        #expect(!rig.socket.isReading)
        await rig.pusher.shutdown()
        #expect(rig.pusher.connection.core.readers.change(\.over) == 0)
        withExtendedLifetime(stream) {}
    }

    /// A service may be asked to end before it has begun.
    @Test func `A client that is shut down before its first connection can never be connected`() async throws {
        let rig = ClientRig()
        await rig.pusher.shutdown()
        #expect(rig.pusher.connection.connectionState == .disconnected)
        try await rig.pusher.run()
        rig.pusher.connect()
        #expect(rig.pusher.connection.connectionState == .disconnected && rig.socket.requests.isEmpty)
        await #expect(throws: PusherError.clientShutDown) { try await rig.pusher.subscribe(to: "news") }
    }
}
