/// Follows channels: reads their updates, has their states loaded, and gives the steps to one reader.
///
/// While every state is up to date, the reader takes updates from the source itself, as from a stream. While one isn't, this
/// object takes them as they come, so that what is held never makes the server wait. Then a live channel's events wait here, up
/// to the limits of a stream.
///
/// Only ``Loads`` takes a lock while this one's is held. The application's code is called outside it.
final class Follower<Element: Sendable, State: Sendable>: Sendable {
    typealias Step = (channel: Name, step: FollowStep<State>)

    struct Settings: Sendable {
        let buffering: StreamBuffering
        /// The time that a load may take.
        let timeout: Duration
        /// The age at which a state is loaded again.
        let maximumAge: Duration?
        /// Returns whether a state holds an event's effect.
        let covers: (@Sendable (State, PusherEvent) -> Bool)?
        let load: @Sendable (Name) async throws -> State
        /// Returns the channel and the update that an element of the source is.
        let split: @Sendable (Element) -> (Name, ChannelUpdate)
    }

    struct Channel {
        var machine: FollowedChannel
        /// Cancels what is under way for its load: a delay, or the load itself and its time-out.
        var cancel: [@Sendable () -> Void] = []
        /// The time at which its load began, which has one of the places for loads.
        var loadingSince: Instant?
        var age: (any ScheduledAction)?
        /// The reason for another load, other than an update.
        var reload: LoadReason?
    }

    struct Shared {
        /// A step that waits for the reader, a refusal by the source, or an event that was held, with the state that may cover
        /// it.
        enum Ready {
            case step(FollowStep<State>)
            case refused(PusherError)
            case held(PusherEvent, State)

            /// The number of bytes that count for as long as it is held.
            var heldBytes: Int { if case .held(let event, _) = self { event.envelope.size } else { 0 } }
            var liveBytes: Int? {
                switch self {
                case .step(.event(let event)): event.envelope.size
                case .refused: 0
                case .step, .held: nil
                }
            }
            var isState: Bool { if case .step(.state) = self { true } else { false } }
        }

        var channels: [Name: Channel]
        private(set) var ready = Deque<(channel: Name, ready: Ready)>()
        /// The live events and the refusals among them, and their bytes.
        private(set) var live = (count: 0, bytes: 0)
        /// The states among them.
        private(set) var unreadStates = 0
        /// The loads that wait until the reader has read a state.
        var postponed: [(load: Int, channel: Name)] = []
        /// What came when no state was out of date, for the reader.
        var taken: Portion<Element>?
        var isAsked = false
        var reader: CheckedContinuation<Void, Never>?
        /// The number of channels whose states are out of date.
        var repairs = 0
        /// The channels to be loaded again, for a reason other than an update.
        var reloads: [Name] = []
        /// What was known of each channel at the end, for a follower that goes on.
        var interrupted: [Name: FollowedChannel] = [:]
        /// Set at the end, with the error that is its reason.
        var end: PusherError??
        var isRead = false
        var random: SplitMix64
        /// What is to be done outside the lock.
        var work: [() -> Void] = []

        mutating func append(_ step: Ready, of channel: Name) {
            ready.append((channel, step))
            count(step, 1)
            wakeUp()
        }

        mutating func takeReady() -> (channel: Name, ready: Ready)? {
            let first = ready.popFirst()
            if let first { count(first.ready, -1) }
            return first
        }

        private mutating func count(_ step: Ready, _ difference: Int) {
            if let bytes = step.liveBytes { live = (live.count + difference, live.bytes + difference * bytes) }
            if step.isState { unreadStates += difference }
        }

        mutating func wakeUp() {
            if let reader = reader.take() { work.append { reader.resume() } }
        }
    }

    let reading: any StreamReading<Element>
    let settings: Settings
    let loads: Loads
    let telemetry: LoadTelemetry
    let shared: Locked<Shared>
    private let number: Int

    /// - Parameter earlier: The follower that this one replaces.
    init(
        _ channels: [Name], after earlier: Follower? = nil, _ reading: any StreamReading<Element>, _ settings: Settings,
        _ loads: Loads, _ telemetry: LoadTelemetry
    ) {
        (self.reading, self.settings, self.loads, self.telemetry) = (reading, settings, loads, telemetry)
        number = reading.makeReaderNumber()
        let known = earlier?.shared.withLock(\.interrupted) ?? [:]
        let new = FollowedChannel(settings.buffering)
        shared = Locked(
            Shared(
                channels: Dictionary(
                    channels.map { ($0, Channel(machine: known[$0] ?? new)) }, uniquingKeysWith: { first, _ in first }),
                random: SplitMix64(seed: telemetry.environment.randomSeed())))
    }

    deinit {
        abandon()
    }

    /// Ends it when nobody reads what is ready.
    func abandon() {
        end(nil)
        while let (_, ready) = shared.withLock({ $0.takeReady() }) { loads.release(ready.heldBytes) }
    }

    /// Changes the state, and then does what follows from it, outside the lock.
    func change<Result>(_ body: (inout Shared, Instant) -> Result) -> Result {
        let now = telemetry.environment.scheduler.now
        let (result, work) = shared.withLock { shared in
            let result = body(&shared, now)
            defer { shared.work = [] }
            return (result, shared.work)
        }
        for step in work { step() }
        return result
    }

    // MARK: The reader

    var channels: [Name] { shared.withLock { Array($0.channels.keys) } }

    /// Returns whether the caller is the first reader, and so the only one.
    func beginReading() -> Bool {
        shared.withLock { shared in
            defer { shared.isRead = true }
            return !shared.isRead
        }
    }

    /// Indicates whether the reader may take events from the source as they are.
    var isLive: Bool {
        shared.withLock {
            $0.repairs == 0 && $0.ready.isEmpty && $0.reloads.isEmpty && $0.channels.values.allSatisfy(\.machine.isLive)
        }
    }

    /// Returns the next step, or nil at the end.
    ///
    /// - Parameter first: An update that the cursor returned, and that isn't an event of a live channel.
    func next(
        _ cursor: StreamCursor<Element>, after first: Element?, isolation actor: isolated (any Actor)?
    ) async throws(PusherError) -> Step? {
        var element = first ?? cursor.next()
        while true {
            reading.finishIfShuttingDown()
            // All that the cursor has: the source gives the next portion when this one was read.
            while let taken = element {
                if let step = read(taken, cursor) { return step }
                element = cursor.next()
            }
            switch look() {
            case .ready(let channel, .step(let step)): return (channel, step)
            case .ready(let channel, .refused(let error)): return (channel, .failed(error))
            case .ready(let channel, .held(let event, let state)):
                if settings.covers?(state, event) != true { return (channel, .event(event)) }
            case .portion(let portion): cursor.hold(portion.batch, of: portion.source)
            case .end(let failure):
                if let failure { throw failure }
                return nil
            case .nothing: await wait()
            }
            element = cursor.next()
        }
    }

    /// Reads an update that the cursor took. If it may change more than this, all that was taken is read with it: what the cursor
    /// has is older than any load, and comes before whatever the load gives.
    private func read(_ element: Element, _ cursor: StreamCursor<Element>) -> Step? {
        if case (_, .event) = settings.split(element) { return change { read(element, isOld: true, &$0, at: $1) } }
        let rest = cursor.takeRest()
        change { shared, now in
            for element in [element] + rest {
                if let (channel, step) = read(element, isOld: true, &shared, at: now) { shared.append(.step(step), of: channel) }
            }
        }
        return nil
    }

    private enum Look {
        case ready(Name, Shared.Ready)
        case portion(Portion<Element>)
        case end(PusherError?)
        case nothing
    }

    private func look() -> Look {
        change { shared, now in
            if Task.isCancelled { return .end(nil) }
            // First what was taken, which is older than any load that begins now.
            if shared.taken == nil { reloadWanted(&shared, at: now) }
            defer { ask(&shared) }
            if let (channel, ready) = shared.takeReady() {
                loads.release(ready.heldBytes)
                beginPostponed(&shared)
                return .ready(channel, ready)
            }
            if let taken = shared.taken.take() { return .portion(taken) }
            if let end = shared.end {
                shared.end = .some(nil)
                return .end(end)
            }
            return .nothing
        }
    }

    /// Waits until there is something to look at.
    private func wait() async {
        await withTaskCancellationHandler {
            await reading.endingGracefully {
                await withCheckedContinuation { reader in
                    change { shared, _ in
                        shared.reader = reader
                        let isOver = !shared.ready.isEmpty || shared.taken != nil || shared.end != nil || !shared.reloads.isEmpty
                        // not a mutant: for what comes between the look and the wait
                        if isOver || Task.isCancelled { shared.wakeUp() } else { ask(&shared) }
                    }
                }
            }
        } onCancel: {
            change { shared, _ in shared.wakeUp() }
        }
    }

    // MARK: The source

    /// Asks the source for updates: for the reader that waits, or for as long as a state is out of date.
    func ask(_ shared: inout Shared) {
        let buffering = settings.buffering
        let hasRoom = shared.live.count < buffering.limit && shared.live.bytes < buffering.byteLimit && shared.taken == nil
        guard !shared.isAsked, shared.end == nil, shared.repairs > 0 ? hasRoom : shared.reader != nil else { return }
        shared.isAsked = true
        shared.work.append { [reading, number] in reading.ask(number) { [weak self] in self?.arrived($0) } }
    }

    private func arrived(_ portion: Portion<Element>) {
        let (batch, source) = portion
        if batch.elements.isEmpty { return end(batch.failure) }
        let isRead = change { shared, now in
            shared.isAsked = false
            guard shared.repairs > 0 else {
                shared.taken = portion
                shared.wakeUp()
                return false
            }
            for element in batch.elements {
                if let (channel, step) = read(element, isOld: false, &shared, at: now) { shared.append(.step(step), of: channel) }
            }
            return true
        }
        guard isRead, let source else { return }
        source.change { $0.wasRead(batch.elements, bytes: batch.bytes) }
        reading.isDone(with: source)
        change { shared, _ in ask(&shared) }
    }

    /// Reads an update; returns the step that it is if it is an event.
    ///
    /// - Parameter isOld: Indicates whether it was taken before any load that is wanted or under way.
    private func read(_ element: Element, isOld: Bool, _ shared: inout Shared, at now: Instant) -> Step? {
        let (name, update) = settings.split(element)
        guard let before = shared.channels[name]?.machine.heldBytes,
            let reaction = shared.channels[name]?.machine.read(update, isOld: isOld, at: now)
        else { return nil }
        switch reaction {
        case .give(let event): return (name, .event(event))
        case .fail(let error): shared.append(.refused(error), of: name)
        case .load: repair(name, &shared, at: now)
        case .nothing: loads.release(before - (shared.channels[name]?.machine.heldBytes ?? 0))
        case .hold(let size):
            let isHeld = loads.hold(size)
            if isHeld, shared.channels[name]?.machine.holdsTooMuch == false { break }
            _ = shared.channels[name]?.machine.missed(.heldTooMuch, at: now)
            loads.release(before + (isHeld ? size : 0))
        }
        return nil
    }

    /// Ends it: cancels what is under way, and lets the reader know once it has read what is ready. Nobody reads the source any
    /// more, which must not make the server wait.
    func end(_ failure: PusherError?) {
        change { shared, _ in
            shared.isAsked = false
            shared.work.append { [reading] in reading.finish() }
            if shared.end == nil { shared.end = .some(failure) }
            for (name, channel) in shared.channels {
                loads.release(channel.machine.heldBytes)
                stop(name, &shared)
                if let age = channel.age { shared.work.append { age.cancel() } }
            }
            if shared.interrupted.isEmpty { shared.interrupted = shared.channels.mapValues(\.machine.interrupted) }
            (shared.channels, shared.repairs) = ([:], 0)
            shared.wakeUp()
        }
    }
}

/// The position of the reader of followed channels.
@usableFromInline
final class FollowPosition<Element: Sendable, State: Sendable> {
    @usableFromInline let cursor: StreamCursor<Element>
    private let follower: Follower<Element, State>
    private let isOnlyReader: Bool

    init(_ follower: Follower<Element, State>) {
        self.follower = follower
        isOnlyReader = follower.beginReading()
        // A loop that is behind never waits, and looks at nothing else.
        cursor = StreamCursor(follower.reading, mayTakeAhead: { follower.shared.withLock { $0.reloads.isEmpty } })
    }

    deinit {
        if isOnlyReader { follower.abandon() }
    }

    /// Indicates whether the reader may take events from the cursor as they are.
    @usableFromInline var isLive: Bool { isOnlyReader && follower.isLive }

    /// Returns the next step, or nil at the end.
    ///
    /// - Parameter update: What the cursor returned, if it returned something that isn't an event of a live channel.
    func nextStep(
        after update: Element? = nil, isolation actor: isolated (any Actor)? = #isolation
    ) async throws(PusherError) -> Follower<Element, State>.Step? {
        if isOnlyReader { return try await follower.next(cursor, after: update, isolation: actor) }
        throw PusherError(.invalidRequest, message: "a loop has read this already; call follow again for another one")
    }

    @usableFromInline
    func next(after update: Element?, isolation actor: isolated (any Actor)?) async throws(PusherError) -> FollowStep<State>? {
        try await nextStep(after: update, isolation: actor)?.step
    }
}
