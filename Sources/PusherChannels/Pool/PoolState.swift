/// The moving parts of a pool: one value behind one lock. What is to be done with the clients waits in it, and is done outside the lock by
/// one thread at a time.
struct PoolState {
    /// Something that is done with a client, or with all.
    enum Step {
        case haveConnections(Int)
        case subscribe(Name, Int)
        case unsubscribe(Name, Int)
        case move(PoolPlacement.Move)
        case follow(PoolReading)
        case connectAll
        case connect(Int)
        case disconnectAll
        /// Nobody connects any more whose turn is yet to come.
        case forgetTurns
        case setDelegate
        /// A client was given up for good.
        case giveUp(Pusher, PusherError)
        /// All that came was read, as far as anybody will read it.
        case finishStreams
    }

    /// A client, and the stream of its states that the pool hears.
    struct Member {
        let client: Pusher
        let states: StreamSource<ConnectionStateChange>
        /// The pool's life in which it was connected last.
        var life = 0
    }

    enum Phase {
        case idle, connected, shutDown
    }

    var placement: PoolPlacement
    weak var delegate: (any PusherDelegate)?
    weak var mainActorDelegate: (any MainActorPusherDelegate)?
    private(set) var phase = Phase.idle
    /// The number of times it was connected.
    private(set) var lives = 0
    /// Changed by the caller that carries out the steps, and by nobody else.
    var members: [Member] = []
    var readings: [Weak<PoolReading>] = []
    var runs = Runs()
    /// The connections that wait for their turn to be made.
    var turns: [any ScheduledAction] = []
    var steps = Deque<Step>()
    private var isBusy = false

    init(placement: PoolPlacement) {
        self.placement = placement
    }

    var clients: [Pusher] { members.map(\.client) }

    /// Begins a life, if it isn't shut down.
    mutating func connect() {
        guard phase != .shutDown else { return }
        phase = .connected
        lives += 1
        steps.append(.connectAll)
        runs.endCancelled()
    }

    mutating func disconnect() {
        if phase == .connected { phase = .idle }
        steps.append(.disconnectAll)
    }

    /// Ends the runs; and with them what is read of the pool, unless it is shut down: then once all is decrypted.
    mutating func endRuns(_ failure: PusherError? = nil) {
        runs.endAll(failure)
        if runs.lastHasEnded, phase == .idle { steps.append(.finishStreams) }
    }

    mutating func shutDown() {
        phase = .shutDown
        steps.append(.forgetTurns)
    }

    /// It is a client's turn: returns it, if it is still to be connected.
    mutating func takeTurn(_ number: Int) -> Pusher? {
        guard phase == .connected, members.indices.contains(number) else { return nil }
        members[number].life = lives
        return members[number].client
    }

    /// Indicates whether a client was connected in the life that the pool has now.
    func isOfThisLife(_ client: Pusher) -> Bool {
        members.contains { $0.client === client && $0.life == lives }
    }

    func client(_ number: Int) -> Pusher? { members.indices.contains(number) ? members[number].client : nil }

    /// The first step; nil if there is none, or another thread is at it.
    mutating func beginSteps() -> Step? {
        guard !isBusy else { return nil }
        return nextStep()
    }

    /// The step after one that was done.
    mutating func nextStep() -> Step? {
        isBusy = !steps.isEmpty
        return steps.popFirst()
    }

    /// Returns the closures that resume the runs that have ended; none as long as a step is carried out.
    mutating func wakeUps() -> [() -> Void] { isBusy ? [] : runs.wakeUps() }
}

extension Array {
    /// Empties the array, and returns what was in it.
    mutating func takeAll() -> [Element] {
        defer { self = [] }
        return self
    }
}
