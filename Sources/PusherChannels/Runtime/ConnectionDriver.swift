/// The one owner of a connection's state.
///
/// A lock guards the machine. Whoever brings an input runs the machine under the lock; the effects go to a queue, which is
/// drained outside the lock by whichever thread got there first. So a call changes the state before it returns, callbacks may
/// call back into the SDK, and everything that happens to a connection has one order.
final class ConnectionDriver: WebSocketDelegate, Sendable {
    private struct Core {
        var machine: ConnectionMachine
        var timer: DeadlineTimer
        var pending: [Effect] = []
        var isDraining = false

        /// Whether the caller is to drain the queue: there is something in it, or the timer is wrong, and nobody is at it.
        mutating func claimDraining() -> Bool {
            guard !isDraining, !pending.isEmpty || timer.needsChange(for: machine.nextDeadline) else { return false }
            isDraining = true
            return true
        }
    }

    let runner: EffectRunner
    private let scheduler: any Scheduler
    private let decoder = EnvelopeDecoder()
    private let core: Locked<Core>

    init(machine: ConnectionMachine, runner: EffectRunner, scheduler: any Scheduler) {
        self.runner = runner
        self.scheduler = scheduler
        core = Locked(Core(machine: machine, timer: DeadlineTimer(scheduler: scheduler, label: "connection")))
    }

    deinit {
        core.withLock { $0.timer.set(nil, ring: {}) }
    }

    /// Reads something off the machine.
    func read<Result>(_ body: (ConnectionMachine) -> Result) -> Result {
        core.withLock { body($0.machine) }
    }

    // MARK: Inputs

    func handle(_ input: Input) {
        act { core, now in core.machine.handle(input, at: now, into: &core.pending) }
    }

    /// Asks under the lock, so that the last to report a change reports how things are now.
    func consumersChanged() {
        // Kept until the lock is let go: a stream whose last reference ended here would report that, too.
        var consumers: [any Consumer] = []
        act { core, now in
            consumers = runner.hub.streams.consumers.present
            let areBehind = consumers.contains(where: \.isBehind)
            core.machine.handle(.consumersChanged(areBehind: areBehind), at: now, into: &core.pending)
        }
        withExtendedLifetime(consumers) {}
    }

    /// The channel's listeners and the wish for it come in one step, and go in one: another thread, or the end of what a replaced
    /// callback holds, may give the channel up meanwhile.
    func subscribe(_ channel: String, auth: PusherAuth?, callbacks: ChannelListeners.Callbacks) -> ChannelListeners {
        let (listeners, replaced) = act { core, now in
            let listeners = runner.hub.listeners(of: channel)
            let replaced = listeners.update(callbacks)
            core.machine.handle(.subscribe(channel: channel, auth: auth), at: now, into: &core.pending)
            return (listeners, replaced)
        }
        withExtendedLifetime(replaced) {}
        return listeners
    }

    func unsubscribe(_ channel: String) {
        let listeners = act { core, now in
            core.machine.handle(.unsubscribe(channel: channel), at: now, into: &core.pending)
            return runner.hub.forget(channel: channel)
        }
        withExtendedLifetime(listeners) {}
    }

    func trigger(_ event: ClientEvent) -> TriggerResult {
        act { core, now in core.machine.trigger(event, at: now, into: &core.pending) }
    }

    private func timerRang() {
        act { core, now in
            core.timer.hasRung()
            core.machine.handle(.deadlineReached, at: now, into: &core.pending)
        }
    }

    private func act<Result>(_ body: (inout Core, MonotonicTime) -> Result) -> Result {
        let now = scheduler.now
        let (result, mustDrain) = core.withLock { core in
            let result = body(&core, now)
            return (result, core.claimDraining())
        }
        if mustDrain { drain() }
        return result
    }

    // MARK: Draining

    private enum Work {
        case effects([Effect], socketID: String?)
        case timer
        case nothing
    }

    private func drain() {
        while true {
            switch nextWork() {
            case .effects(let effects, let socketID):
                runner.run(effects, socketID: socketID, delegate: self, feedback: { [weak self] input in self?.handle(input) })
            case .timer:
                core.withLock { core in
                    core.timer.set(core.machine.nextDeadline) { [weak self] in self?.timerRang() }
                }
            case .nothing:
                return
            }
        }
    }

    private func nextWork() -> Work {
        core.withLock { core in
            if !core.pending.isEmpty {
                defer { core.pending = [] }
                return .effects(core.pending, socketID: core.machine.lastSocketID)
            }
            if core.timer.needsChange(for: core.machine.nextDeadline) { return .timer }
            core.isDraining = false
            return .nothing
        }
    }

    // MARK: What the socket reports

    func webSocketDidOpen(attempt: ConnectionAttempt) {
        handle(.socketOpened(attempt))
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        act { core, now in
            // Most messages have one effect: one allocation for all of them.
            if core.pending.isEmpty { core.pending.reserveCapacity(messages.count) }
            messages.forEach { kind, bytes in
                core.machine.handle(decode(kind, bytes, attempt), at: now, into: &core.pending)
            }
        }
    }

    private func decode(_ kind: MessageBatch.Kind, _ bytes: UnsafeRawBufferPointer, _ attempt: ConnectionAttempt) -> Input {
        guard kind == .text else { return .receivedMalformed(.binary, attempt) }
        do {
            return .received(try decoder.decode(bytes), attempt)
        } catch {
            return .receivedMalformed(error, attempt)
        }
    }

    func webSocketDidReceiveControlFrame(attempt: ConnectionAttempt) {
        handle(.receivedControlFrame(attempt))
    }

    func webSocketMayHaveWaited(_ time: Duration, attempt: ConnectionAttempt) {
        handle(.mayHaveWaited(time, attempt))
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        handle(.socketClosed(closure, attempt))
    }
}
