import Dispatch
import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// The features that the core adds to the machine: a single order, calls from any thread, a timer, and delivery.
@Suite(.timeLimit(.lost)) struct ClientCoreTests {
    @Test func `Assigning another socket closes the old one and subscribes the channels there, the same one does nothing`() {
        let rig = ClientRig.connected()
        rig.pusher.connection.socket = rig.socket
        #expect(rig.socket.isOpen && rig.pusher.connection.connectionState == .connected)
        rig.pusher.subscribe("room")
        let other = MockWebSocket()
        rig.pusher.connection.socket = other
        #expect(!rig.socket.isOpen, "the one it replaces is closed")
        rig.scheduler.advance(by: .seconds(20))
        #expect(other.isOpen && other.frames.map(\.channel) == ["room"])
        #expect(rig.pusher.connection.connectionState == .connected)
    }

    // Proves P3.11.
    @Test func `The age that an assigned socket reports for a message moves a gap's beginning back`() throws {
        let (scheduler, socket) = (TestScheduler(), MockWebSocket())
        let start = Date(timeIntervalSince1970: 1_000)
        let pusher = Pusher(
            key: "key", options: PusherClientOptions(delivery: .immediate),
            environment: PusherEnvironment(scheduler: scheduler, wallClock: { start + scheduler.now.sinceOrigin / .seconds(1) }))
        pusher.connection.socket = socket
        let recorder = RecordingDelegate(of: pusher)
        pusher.connect()
        pusher.subscribe("room")
        scheduler.advance(by: .seconds(10))
        let attempt = try #require(socket.currentAttempt)
        MessageBatch.withText(#"{"event":"n","channel":"room","data":"1"}"#, age: .seconds(8)) { batch in
            socket.delegate?.webSocketDidReceive(batch, attempt: attempt)
        }
        socket.drop()
        scheduler.advance(by: .seconds(2))
        #expect(recorder.notifications.contains(.gap(channel: "room", since: start + 2)))
    }

    /// Another thread replaces the socket between the decision to open it and its opening.
    @Test func `A socket that is replaced while it opens is closed, and the replacement connects`() {
        let rig = ClientRig()
        let replacement = MockWebSocket()
        let socket = Replaced(rig.socket) { rig.pusher.connection.socket = replacement }
        rig.pusher.connection.socket = socket
        rig.pusher.connect()
        #expect(!rig.socket.isOpen)
        rig.scheduler.advance(by: .seconds(2))
        #expect(replacement.isOpen && rig.pusher.connection.connectionState == .connected)
    }

    @Test func `On a delivery queue, events come in order and on that queue only`() async throws {
        let queue = DispatchQueue(label: "test")
        let mark = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: mark, value: true)
        let rig = ClientRig { $0.delivery = .queue(queue) }
        let (elsewhere, heard) = (Locked(0), Locked<[String]>([]))
        rig.pusher.subscribe("news").bind(eventName: "n") { event in
            if DispatchQueue.getSpecific(key: mark) != true { elsewhere.withLock { $0 += 1 } }
            heard.withLock { $0.append(event.data ?? "") }
        }
        rig.pusher.connect()
        rig.publish(0..<1000)
        try await rig.recorder.next { $0 == .event("n", channel: "news", data: "999") }
        // The recorder hears of an event before the channel's closures do, and these may still be running.
        queue.sync {}
        #expect(heard.withLock { $0 } == (0..<1000).map(String.init) && elsewhere.withLock { $0 } == 0)
    }

    // Proves P6.6.
    @Test func `An event that waits on the delivery queue is delivered to no later subscription of its channel`() async throws {
        let queue = DispatchQueue(label: "test")
        let rig = ClientRig { $0.delivery = .queue(queue) }
        let heard = Locked<[String?]>([])
        rig.pusher.connect()
        rig.pusher.subscribe("room").bind(eventName: "n") { _ in heard.withLock { $0.append("of the earlier one") } }
        queue.suspend()
        rig.socket.publish(channel: "room", event: "n", data: "before")
        rig.pusher.unsubscribe("room")
        rig.pusher.subscribe("room").bind(eventName: "n") { event in heard.withLock { $0.append(event.data) } }
        rig.socket.publish(channel: "room", event: "n", data: "after")
        queue.resume()
        queue.sync {}
        #expect(heard.withLock { $0 } == ["after"])
    }

    // Proves P6.6.
    @Test func `An event of the same read isn't delivered to a subscription that a closure renewed`() {
        let rig = ClientRig.connected()
        let heard = Locked<[String]>([])
        rig.pusher.subscribe("room").bind(eventName: "n") { [weak pusher = rig.pusher] event in
            heard.withLock { $0.append(event.data ?? "") }
            pusher?.unsubscribe("room")
            pusher?.subscribe("room").bind(eventName: "n") { event in heard.withLock { $0.append("again \(event.data ?? "")") } }
        }
        rig.read(["1", "2"].map { #"{"event":"n","channel":"room","data":"\#($0)"}"# })
        #expect(heard.withLock { $0 } == ["1"])
        rig.socket.publish(channel: "room", event: "n", data: "3")
        #expect(heard.withLock { $0 } == ["1", "again 3"])
    }

    // Proves P6.6.
    @Test func `A closure that is unbound during one event isn't called for the next one of the same read`() {
        let rig = ClientRig.connected()
        let room = rig.pusher.subscribe("room")
        let heard = Locked(0)
        let second = room.bind(eventName: "second") { _ in heard.withLock { $0 += 1 } }
        room.bind(eventName: "first") { _ in room.unbind(eventName: "second", callbackId: second) }
        rig.read(["first", "second"].map { #"{"event":"\#($0)","channel":"room"}"# })
        #expect(heard.withLock { $0 } == 0)
        // The closure captures the channel that holds it: this breaks the cycle.
        room.unbindAll()
    }

    @Test func `All pings of one read are answered with one pong`() {
        let rig = ClientRig.connected()
        for count in 1...3 { rig.read(Array(repeating: #"{"event":"pusher:ping"}"#, count: count)) }
        #expect(rig.socket.frames.map(\.event) == Array(repeating: "pusher:pong", count: 3))
    }

    @Test func `Calls from many threads leave each channel in the state requested last`() {
        let rig = ClientRig.connected()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<200 {
                let name = "room-\(thread)"
                rig.pusher.subscribe(name)
                rig.socket.publish(channel: name, event: "n", data: "\(round)")
                if round % 2 == 0 { rig.pusher.unsubscribe(name) }
            }
        }
        #expect(rig.pusher.connection.channels.all.map(\.subscribed) == Array(repeating: true, count: 8))
    }

    @Test func `Racing subscribe and unsubscribe calls leave a channel known exactly if it is subscribed`() {
        let rig = ClientRig.connected()
        for _ in 0..<2_000 {
            rig.pusher.subscribe("room")
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 { rig.pusher.unsubscribe("room") } else { rig.pusher.subscribe("room") }
            }
            let isKnown = rig.pusher.connection.channels.find(name: "room") != nil
            let isSubscribed = rig.pusher.connection.core.read { $0.subscriptions["room"] != nil }
            guard isSubscribed == isKnown else {
                Issue.record("subscribed: \(isSubscribed), known: \(isKnown)")
                return
            }
        }
    }

    @Test func `Events published from many threads are delivered once each and in order per channel`() {
        let rig = ClientRig.connected()
        let heard = Locked<[String: [Int]]>([:])
        for thread in 0..<4 { rig.pusher.subscribe("room-\(thread)") }
        rig.pusher.bind { event in
            guard let channel = event.channelName, let number = event.data.flatMap({ Int($0) }) else { return }
            heard.withLock { $0[channel, default: []].append(number) }
        }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<500 { rig.socket.publish(channel: "room-\(thread)", event: "n", data: "\(number)") }
        }
        let wanted = Dictionary(uniqueKeysWithValues: (0..<4).map { ("room-\($0)", Array(0..<500)) })
        #expect(heard.withLock { $0 } == wanted)
    }
}

/// A socket that runs a closure just before it opens for the first time.
private final class Replaced: WebSocket {
    private let base: MockWebSocket
    private let beforeOpening: Locked<(@Sendable () -> Void)?>

    init(_ base: MockWebSocket, beforeOpening: @escaping @Sendable () -> Void) {
        (self.base, self.beforeOpening) = (base, Locked(beforeOpening))
    }

    var delegate: (any WebSocketDelegate)? {
        get { base.delegate }
        set { base.delegate = newValue }
    }

    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        beforeOpening.withLock { $0.take() }?()
        base.open(request, attempt: attempt)
    }

    func send(_ text: String) { base.send(text) }
    func close(code: UInt16, reason: String) { base.close(code: code, reason: reason) }
    func setReading(_ reading: Bool) { base.setReading(reading) }
}

@Suite struct DeadlineTimerTests {
    private struct Scheduled: ScheduledAction { func cancel() {} }

    private var timer = DeadlineTimer()

    private mutating func set(_ deadline: Instant) throws -> Int {
        let change = timer.change(for: deadline)
        return try #require(change).number
    }

    @Test mutating func `A deadline timer is set again only for an earlier deadline and canceled if there is none`() throws {
        let changes = ([nil, .seconds(2), .seconds(2), .seconds(3), .seconds(1), nil] as [Instant?]).map { timer.change(for: $0) }
        #expect(changes.map { $0 != nil } == [false, true, false, false, true, true])
        #expect(changes.map(\.?.deadline) == [nil, .seconds(2), nil, nil, .seconds(1), nil])
    }

    /// The earlier timer may be about to ring when it is replaced.
    @Test mutating func `Only the deadline timer that was set last fires, and only once`() throws {
        let (first, second) = (try set(.seconds(2)), try set(.seconds(1)))
        let rung = [first, second, second].map { timer.hasFired($0) }
        #expect(rung == [false, true, false], "and once")
    }

    /// Another thread may replace the earlier timer before its scheduled action can be kept.
    @Test mutating func `A scheduled action is kept only for the latest timer, and only until that timer fires`() throws {
        let (first, second) = (try set(.seconds(2)), try set(.seconds(1)))
        let kept = [first, second].map { timer.keep(Scheduled(), number: $0) }
        #expect(kept == [false, true])
        _ = timer.hasFired(second)
        #expect(timer.keep(Scheduled(), number: second) == false)
    }
}
