import Dispatch
import Logging

/// The hall that a client's rooms open on: it owns the machine, the socket, authorizations under way, listeners, and everything that
/// waits, and passes what comes out of one room to the next.
///
/// All of them are one value behind one lock. Every input changes the value under the lock; what is to be done then goes to a queue, which
/// is drained outside the lock by the first thread to get there. So a call changes the state before it returns, callbacks may
/// call back into the SDK, and everything that happens to a connection has one order.
///
/// The application's closures are called outside the lock, and anything they hold is released outside it: parts removed from the
/// value are kept until the lock is free (``State/removed``). Only these locks are taken while this one is held: that of the
/// ``Readers``, and within it on Apple platforms that of a ``ChangeCount``.
final class ClientCore: WebSocketDelegate, StreamOwner, Sendable {
    struct State {
        var machine: ConnectionMachine
        var router = Router()
        var outbox: Outbox
        var listeners = Listeners()
        var backlog: DeliveryBacklog
        var waits = Waits()
        var telemetry = TelemetryNotes()
        /// Removed parts that may hold the application's objects, whose deinitializers may do anything. They are released outside
        /// the lock.
        var removed: [any Sendable] = []
    }

    private let state: Locked<State>
    let inbox: Inbox
    let readers: Readers
    let calls: ListenerCalls
    let peers: Peers
    let telemetry: Telemetry
    let environment: PusherEnvironment

    init(
        machine: ConnectionMachine, target: ConnectionTarget, peers: Peers, deliveryQueue: DispatchQueue?,
        backlog: DeliveryBacklog,
        environment: PusherEnvironment, logger: Logger
    ) {
        state = Locked(
            State(machine: machine, outbox: Outbox(target: target, session: environment.httpSession), backlog: backlog))
        readers = Readers(Streams(tracksReading: target.protocol == .sockudo) { environment.date($0) })
        calls = ListenerCalls(queue: deliveryQueue, decoder: environment.customDecoder.map(EventDecoder.init))
        telemetry = Telemetry(logger: logger, metrics: environment.clientMetrics)
        inbox = Inbox(target.protocol, logsMessages: telemetry.logsMessages)
        self.peers = peers
        self.environment = environment
    }

    deinit {
        let (timer, tally) = state.withLock { state in
            state.telemetry.tally.noteEnd(in: state.machine.state)
            // Calls that still wait on the main actor don't keep the client, so they can't count themselves off.
            state.telemetry.tally.noteWaiting(-state.backlog.watermark.count)
            return (state.outbox.timer.forget(), state.telemetry.tally.take())
        }
        timer?.cancel()
        if let tally { telemetry.metrics.add(tally) }
        endAllSpans()
    }

    // MARK: Reading

    /// Reads from the machine.
    func read<Result>(_ body: (ConnectionMachine) -> Result) -> Result {
        state.withLock { body($0.machine) }
    }

    func readState<Result>(_ body: (State) -> Result) -> Result {
        state.withLock { body($0) }
    }

    /// Accesses the state in place, without the follow-up work of `change`.
    func withState<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock(body)
    }

    // MARK: Changing

    func handle(_ input: Input) {
        change { state, now in state.handle(input, at: now) }
    }

    func change<Result>(_ body: (inout State) -> Result) -> Result {
        change { state, _ in body(&state) }
    }

    /// Replaces a part of the state; the previous one is released outside the lock.
    func replace<Part: Sendable>(_ part: WritableKeyPath<State, Part>, with new: Part) {
        change { state in
            state.removed.append(state[keyPath: part])
            state[keyPath: part] = new
        }
    }

    /// Changes the state, and does the follow-up work before it returns, unless another thread is draining. All changes with
    /// consequences go through here.
    func change<Result>(_ body: (inout State, Instant) -> Result) -> Result {
        let now = environment.scheduler.now
        // Filled in place: it is large, and returning it would copy it several times.
        var consequences = Consequences()
        let result = state.withLock { state in
            let result = body(&state, now)
            settle(&state, at: now, &consequences)
            return result
        }
        if let tally = consequences.tally { telemetry.metrics.add(tally) }
        // Before anybody hears of what happened, so that code which then advances a virtual clock finds the timer.
        if let timer = consequences.timer { set(timer) }
        if consequences.ordersReading { orderReading() }
        for wakeUp in consequences.wakeUps { wakeUp() }
        hop(consequences.hops)
        // Explicit, as the optimizer may release an unused value earlier.
        withExtendedLifetime(consequences.removed) {}
        if let work = consequences.work { drain(work) }
        return result
    }

    /// The consequences of a change outside the lock.
    private struct Consequences {
        var tally: MetricsTally?
        var timer: DeadlineTimer.Change?
        var ordersReading = false
        var wakeUps: [() -> Void] = []
        var hops = 0
        var removed: [any Sendable] = []
        var work: Work?
    }

    private func settle(_ state: inout State, at now: Instant, _ consequences: inout Consequences) {
        route(&state, at: now)
        state.router.arrival = nil
        let isElsewhere = state.outbox.isDraining
        // The draining thread may be busy for a long time, and a limited pause mustn't last until it is back.
        let isPauseLimited = isElsewhere && state.machine.readingDeadline != nil
        if !isElsewhere {
            (consequences.work, consequences.timer) = nextWork(&state)
            state.outbox.isDraining = consequences.work != nil
        } else if isPauseLimited {
            consequences.timer = timerChange(&state)
        }
        state.waits.takeWakeUps(isDecrypting: !state.machine.decryption.lastEvents.isEmpty, into: &state.router.wakeUps)
        consequences.ordersReading = state.outbox.reading.begin()
        swap(&consequences.wakeUps, &state.router.wakeUps)
        consequences.hops = state.router.takeHopsDue()
        swap(&consequences.removed, &state.removed)
        consequences.tally = state.telemetry.tally.take()
    }

    // MARK: Draining

    /// The work of one round of draining, outside the lock.
    struct Work {
        var spans: [SpanNotes.Note] = []
        var commands: [Output.Command] = []
        var deliveries: [Deliveries] = []
        /// Those that the commands to authorize begin, in their order.
        var calls: [AuthorizationCall] = []
        var socket: (any WebSocket)?
    }

    /// Does work, and then the work that results from it.
    private func drain(_ first: Work) {
        var work = first
        while true {
            tell(work.spans)
            if !work.commands.isEmpty {
                run(work)
                // Before anybody hears of what happened. With nobody to hear, the look for more work does it.
                if !work.deliveries.isEmpty, let timer = state.withLock({ timerChange(&$0) }) { set(timer) }
            }
            for deliveries in work.deliveries { deliver(deliveries) }
            let (next, timer, waits) = state.withLock { state -> (Work?, DeadlineTimer.Change?, [@Sendable () -> Void]) in
                let (next, timer) = nextWork(&state)
                state.outbox.isDraining = next != nil
                guard next == nil, !state.outbox.drainWaits.isEmpty else { return (next, timer, []) }
                defer { state.outbox.drainWaits = [] }
                return (next, timer, state.outbox.drainWaits)
            }
            if let timer { set(timer) }
            for wait in waits { wait() }
            guard let next else { return }
            work = next
        }
    }

    /// Takes the work that is there, and the change of the timer. Commands may move the deadline, so their timer is set after them.
    private func nextWork(_ state: inout State) -> (Work?, DeadlineTimer.Change?) {
        let timer = state.outbox.commands.isEmpty ? timerChange(&state) : nil
        guard !state.outbox.commands.isEmpty || !state.router.batches.isEmpty || !state.telemetry.spans.isEmpty
        else { return (nil, timer) }
        defer { (state.outbox.commands, state.outbox.calls, state.router.batches) = ([], [], []) }
        let work = Work(
            spans: state.telemetry.spans.take(), commands: state.outbox.commands,
            deliveries: state.router.batches.map { resolve($0, &state) }, calls: state.outbox.calls, socket: state.outbox.socket)
        return (work, timer)
    }

    private func timerChange(_ state: inout State) -> DeadlineTimer.Change? {
        state.outbox.timer.change(for: state.machine.nextDeadline)
    }

    private func set(_ change: DeadlineTimer.Change) {
        change.previous?.cancel()
        guard let deadline = change.deadline else { return }
        let number = change.number
        let action = environment.scheduler.schedule(at: deadline, label: "connection") { [weak self] in self?.timerFired(number) }
        // The timer may have fired already.
        let isStale = state.withLock { !$0.outbox.timer.keep(action, number: number) }
        if isStale { action.cancel() }
    }

    private func timerFired(_ number: Int) {
        change { state, now in
            guard state.outbox.timer.hasFired(number) else { return }
            state.handle(.deadlineReached, at: now)
        }
    }
}

extension ClientCore.State {
    /// Passes an input to the machine.
    mutating func handle(_ input: Input, at now: Instant) {
        telemetry.tally.note(input, attempt: machine.attempt, at: now)
        machine.handle(input, at: now)
        telemetry.tally.noteChannels(machine.subscriptions.counts)  // not a mutant: the trait's tests are a package of their own
        telemetry.spans.note(input, attempt: machine.attempt, subscriptions: machine.subscriptions, at: now)
    }
}
