/// The mutable state of a pool: one value behind one lock. Calls to the clients wait in it as steps, which one thread at a time
/// carries out outside the lock.
struct PoolState {
    /// A call to a client, or to all.
    enum Step {
        case haveConnections(Int)
        case subscribe(Name, Int)
        case unsubscribe(Name, Int)
        case move(PoolPlacement.Move)
        case follow(PoolReading)
        /// Calls the closure once the steps before it are done.
        case then(@Sendable () -> Void)
        case connectAll
        case connect(Int)
        case disconnectAll
        /// Cancels the scheduled attempts to connect.
        case cancelScheduled
        case setDelegate
        /// A client gave up permanently.
        case clientFailed(Pusher, PusherError)
        /// Ends the clients' streams, because the last run has ended.
        case finishStreams
    }

    /// A client, and the stream of its states that the pool follows.
    struct Member {
        let client: Pusher
        let states: StreamSource<ConnectionStateChange>
        /// The pool's life in which the client was last connected.
        var life = 0
    }

    enum Phase {
        case idle, connected
        /// Its clients are being shut down.
        case shuttingDown
        case shutDown
    }

    var placement: PoolPlacement
    weak var delegate: (any PusherDelegate)?
    weak var mainActorDelegate: (any MainActorPusherDelegate)?
    private(set) var phase = Phase.idle
    /// The number of times the pool was connected.
    private(set) var generation = 0
    /// Changed only by the caller that carries out the steps.
    var members: [Member] = []
    var readings: [Weak<PoolReading>] = []
    var runs = Runs()
    /// The scheduled attempts to connect.
    var scheduled: [any ScheduledAction] = []
    var steps = Deque<Step>()
    private var isBusy = false

    init(placement: PoolPlacement) {
        self.placement = placement
    }

    var clients: [Pusher] { members.map(\.client) }

    /// Indicates whether the pool connects no more.
    var isShutDown: Bool { phase == .shuttingDown || phase == .shutDown }

    /// Begins a life, unless the pool is shut down.
    mutating func connect() {
        guard !isShutDown else { return }
        phase = .connected
        generation += 1  // not a mutant: any number that wasn't there before
        steps.append(.connectAll)
        runs.endCancelled()
    }

    mutating func disconnect() {
        if phase == .connected { phase = .idle }
        steps.append(.disconnectAll)
    }

    /// Connects for a run. Returns whether the run has to wait: not if the pool was shut down, nor if the run's task was cancelled
    /// before it began, which then connects nothing.
    mutating func begin(_ wait: Runs.Wait) -> Bool {
        if phase == .shutDown { return false }
        if phase == .idle, Task.isCancelled {
            if runs.isEmpty { steps.append(.finishStreams) }
            return false
        }
        connect()
        runs.add(wait)
        return true
    }

    /// Ends the runs, and with the last one the pool's streams. If the pool is shut down, the streams end only when everything is
    /// decrypted.
    mutating func endRuns(_ failure: PusherError? = nil) {
        runs.endAll(failure)
        if runs.lastHasEnded, phase == .idle { steps.append(.finishStreams) }
    }

    mutating func beginShutdown() {
        if phase != .shutDown { phase = .shuttingDown }
        steps.append(.cancelScheduled)
    }

    mutating func endShutdown() {
        phase = .shutDown
        endRuns()
    }

    /// Returns the client whose turn it is, if it is still to be connected.
    mutating func takeTurn(_ number: Int) -> Pusher? {
        guard phase == .connected, members.indices.contains(number) else { return nil }
        members[number].life = generation
        return members[number].client
    }

    /// Returns whether a client was connected in the pool's current life.
    func isOfThisGeneration(_ client: Pusher) -> Bool {
        members.contains { $0.client === client && $0.life == generation }
    }

    func client(_ number: Int) -> Pusher? { members.indices.contains(number) ? members[number].client : nil }

    /// Returns the first step; nil if there is none, or another thread is carrying out steps.
    mutating func beginSteps() -> Step? {
        guard !isBusy else { return nil }
        return nextStep()
    }

    /// Returns the step after a finished one.
    mutating func nextStep() -> Step? {
        isBusy = !steps.isEmpty
        return steps.popFirst()
    }

    /// Returns the closures that resume the runs that have ended; none while a step is being carried out.
    mutating func wakeUps() -> [() -> Void] {
        var wakeUps: [() -> Void] = []
        if !isBusy { runs.takeWakeUps(into: &wakeUps) }
        return wakeUps
    }
}

extension Array {
    /// Removes all elements, and returns them.
    mutating func takeAll() -> [Element] {
        defer { self = [] }
        return self
    }
}
