import Dispatch
import Logging

/// The owner of a client's moving parts: the machine, the socket, authorizations under way, listeners, streams, and everything
/// that waits.
///
/// All of them are one value behind one lock. Every input changes the value under the lock; the effects then go to a queue, which
/// is drained outside the lock by the first thread to get there. So a call changes the state before it returns, callbacks may
/// call back into the SDK, and everything that happens to a connection has one order.
///
/// The application's closures are called outside the lock, and anything they hold is released outside it: parts removed from the
/// value are kept until the lock is free (``State/removed``). Only two locks are taken while this one is held, and nothing else
/// is locked while they are: that of a dispatch queue, for a hop, and on Apple platforms that of a ``ChangeCount``.
final class ClientCore: WebSocketDelegate, Sendable {
    struct State {
        var machine: ConnectionMachine
        var decoder = EnvelopeDecoder()
        var timer = DeadlineTimer()
        var socket: (any WebSocket)?
        var reading = ReadingOrder()
        var session: any HTTPSession
        var channelUser: (@Sendable () -> PusherPresenceChannelMember)?
        var authorizations: [Authorization: AuthCall.Cancel] = [:]
        var listeners = Listeners()
        var streams: Streams
        var waits = SubscriptionWaits()
        /// Called once everything that was read before the client was shut down is decrypted.
        var decryptionWaits: [@Sendable () -> Void] = []
        var runs = Runs()
        var backlog: DeliveryBacklog

        /// The arrival time of the data being handled, if it waited; nil for now.
        var came: Instant?
        /// The machine's effects, until they are sorted.
        var effects: [Effect] = []
        /// The effects to carry out outside the lock, in order.
        var commands: [Effect] = []
        /// The deliveries that the draining thread has to make.
        var deliveries: [UndeliveredBatch] = []
        var isDraining = false
        /// Called when the draining thread is done.
        var drainWaits: [@Sendable () -> Void] = []
        /// Indicates whether the machine was last told that readers are behind.
        var isReaderOver = false
        var logLimiter = LogLimiter()
        var tally = MetricsTally()
        var spans = SpanNotes()
        /// Removed parts that may hold the application's objects, whose deinitializers may do anything. They are released outside
        /// the lock.
        var removed: [any Sendable] = []
    }

    let target: ConnectionTarget
    let authorizer: ChannelAuthorizer
    let userAuthorizer: UserAuthorizer
    let environment: PusherEnvironment
    /// The queue on which the application is called; nil to call it at once, on the draining thread.
    let deliveryQueue: DispatchQueue?
    let logger: Logger
    /// Indicates whether each message is logged. This requires a logger with the level `trace`, as the lines cost more than the
    /// messages.
    let logsMessages: Bool
    let eventDecoder: EventDecoder?
    let metrics: ClientMetrics
    /// The number of changes to the listeners, for deliveries that looked them up earlier.
    let listenerChanges = ChangeCount()
    private let state: Locked<State>

    init(
        machine: ConnectionMachine, target: ConnectionTarget, authorizer: ChannelAuthorizer, userAuthorizer: UserAuthorizer,
        deliveryQueue: DispatchQueue?, backlog: DeliveryBacklog, environment: PusherEnvironment, logger: Logger
    ) {
        self.environment = environment
        self.target = target
        self.authorizer = authorizer
        self.userAuthorizer = userAuthorizer
        self.deliveryQueue = deliveryQueue
        self.logger = logger
        logsMessages = logger.logLevel <= .trace
        eventDecoder = environment.customDecoder.map(EventDecoder.init)
        metrics = environment.clientMetrics
        state = Locked(
            State(
                machine: machine, session: environment.httpSession, streams: Streams(date: { environment.date($0) }),
                backlog: backlog))
    }

    deinit {
        let (timer, tally) = state.withLock { state in
            state.tally.noteEnd(in: state.machine.state)
            // Calls that still wait on the main actor don't keep the client, so they can't count themselves off.
            state.tally.noteWaiting(-state.backlog.watermark.count)
            return (state.timer.forget(), state.tally.take())
        }
        timer?.cancel()
        if let tally { metrics.add(tally) }
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
        let (result, aftermath, tally) = state.withLock { state in
            let result = body(&state, now)
            return (result, settle(&state, at: now), state.tally.take())
        }
        if let tally { metrics.add(tally) }
        // Before anybody hears of what happened, so that code which then advances a virtual clock finds the timer.
        if let timer = aftermath?.timer { set(timer) }
        if aftermath?.ordersReading == true { orderReading() }
        aftermath?.perform()
        if let work = aftermath?.work { drain(work) }
        return result
    }

    /// The consequences of a change outside the lock.
    private struct Aftermath {
        var timer: DeadlineTimer.Change?
        var ordersReading: Bool
        var wakeUps: [() -> Void]
        var removed: [any Sendable]
        var work: Work?

        func perform() {
            for wakeUp in wakeUps { wakeUp() }
            // Explicit, as the optimizer may release an unused value earlier.
            withExtendedLifetime(removed) {}
        }
    }

    private func settle(_ state: inout State, at now: Instant) -> Aftermath? {
        sort(&state, at: now)
        state.came = nil
        let isElsewhere = state.isDraining
        let work = isElsewhere ? nil : nextWork(&state)
        state.isDraining = isElsewhere || work != nil
        let wakeUps = state.wakeUps()
        let ordersReading = state.reading.begin()
        // The draining thread may be busy for a long time, and a limited pause mustn't last until it is back.
        let isPauseLimited = isElsewhere && state.machine.readingDeadline != nil
        let timer = isPauseLimited ? timerChange(&state) : work?.timer
        guard work != nil || timer != nil || ordersReading || !wakeUps.isEmpty || !state.removed.isEmpty else { return nil }
        defer { state.removed = [] }
        return Aftermath(timer: timer, ordersReading: ordersReading, wakeUps: wakeUps, removed: state.removed, work: work)
    }

    // MARK: Draining

    /// The work of one round of draining, outside the lock.
    struct Work {
        var spans: [SpanNotes.Note] = []
        var commands: [Effect] = []
        var deliveries: [Deliveries] = []
        var timer: DeadlineTimer.Change?
        var socket: (any WebSocket)?
    }

    /// Does work whose timer is set, and then the work that results from it.
    private func drain(_ first: Work) {
        var work = first
        while true {
            tell(work.spans)
            if !work.commands.isEmpty {
                run(work.commands, socket: work.socket)
                if let timer = state.withLock({ timerChange(&$0) }) { set(timer) }
            }
            for deliveries in work.deliveries { deliver(deliveries) }
            let (next, waits) = state.withLock { state -> (Work?, [@Sendable () -> Void]) in
                let next = nextWork(&state)
                state.isDraining = next != nil
                guard !state.isDraining, !state.drainWaits.isEmpty else { return (next, []) }
                defer { state.drainWaits = [] }
                return (nil, state.drainWaits)
            }
            for wait in waits { wait() }
            guard let next else { return }
            if let timer = next.timer { set(timer) }
            work = next
        }
    }

    private func nextWork(_ state: inout State) -> Work? {
        // Commands may move the deadline, so their round sets the timer after them.
        let timer = state.commands.isEmpty ? timerChange(&state) : nil
        guard timer != nil || !state.commands.isEmpty || !state.deliveries.isEmpty || !state.spans.isEmpty else { return nil }
        defer { (state.commands, state.deliveries) = ([], []) }
        return Work(
            spans: state.spans.take(), commands: state.commands, deliveries: state.deliveries.map { resolve($0, &state) },
            timer: timer,
            socket: state.socket)
    }

    private func timerChange(_ state: inout State) -> DeadlineTimer.Change? {
        state.timer.change(for: state.machine.nextDeadline)
    }

    private func set(_ change: DeadlineTimer.Change) {
        change.previous?.cancel()
        guard let deadline = change.deadline else { return }
        let number = change.number
        let action = environment.scheduler.schedule(at: deadline, label: "connection") { [weak self] in self?.timerRang(number) }
        // The timer may have fired already.
        let isStale = state.withLock { !$0.timer.keep(action, number: number) }
        if isStale { action.cancel() }
    }

    private func timerRang(_ number: Int) {
        change { state, now in
            guard state.timer.hasRung(number) else { return }
            state.handle(.deadlineReached, at: now)
        }
    }
}

extension ClientCore.State {
    /// Returns the closures that resume whoever waited for what has come or is over. Usually there are none, so no lists are joined.
    fileprivate mutating func wakeUps() -> [() -> Void] {
        var wakeUps: [() -> Void] = []
        streams.takeWakeUps(into: &wakeUps)
        waits.takeWakeUps(into: &wakeUps)
        runs.takeWakeUps(into: &wakeUps)
        if !decryptionWaits.isEmpty, machine.lastEncryptedEvents.isEmpty {
            // One by one, as Swift converts a list of `@Sendable` closures at run time, which ends the process.
            for wait in decryptionWaits { wakeUps.append(wait) }
            decryptionWaits = []
        }
        return wakeUps
    }

    /// Passes an input to the machine.
    mutating func handle(_ input: Input, at now: Instant) {
        tally.note(input, at: now)
        machine.handle(input, at: now, into: &effects)
        spans.note(input, attempt: machine.attempt, subscriptions: machine.subscriptions, at: now)
    }
}
