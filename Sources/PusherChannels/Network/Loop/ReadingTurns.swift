#if canImport(CLibwebsockets)

/// Counts how often the sockets of a loop were asked what they have to tell, and when.
///
/// A socket that has nothing to tell in a turn has had everything read that had come by then. That is how a stream knows how long what
/// it reads may have lain there: while the process was suspended, or nobody wanted to read.
struct ReadingTurns {
    /// One of them; of those that are over, the last in which every socket with something to tell was named.
    struct Turn {
        var number = 0
        var time: Instant
    }

    private(set) var current: Turn
    private(set) var lastComplete: Turn

    init(at now: Instant) {
        current = Turn(time: now)
        lastComplete = current
    }

    mutating func begin(at now: Instant) {
        current = Turn(number: current.number + 1, time: now)
    }

    mutating func end(isComplete: Bool) {
        if isComplete { lastComplete = current }
    }
}

/// How long what a stream reads may have lain unread.
struct UnreadTime {
    /// What is less is no news.
    private static let notable = Duration.milliseconds(100)

    private var lastRead: Int
    /// When everything that had come had been read.
    private var empty: Instant
    /// Of what the owner was told last.
    private var told: Instant?

    init(_ turns: ReadingTurns) {
        lastRead = turns.current.number
        empty = turns.current.time
    }

    /// Something is about to be read; what the owner is to be told first, if anything: how long it may have lain there, or zero
    /// for what is read as it comes.
    mutating func read(in turns: ReadingTurns) -> Duration? {
        look(at: turns)
        lastRead = turns.current.number
        let time = turns.current.time - empty
        if time > Self.notable {
            guard told != empty else { return nil }
            told = empty
            return time
        }
        guard told != nil else { return nil }
        told = nil
        return .zero
    }

    /// Something is there, and is left for later.
    mutating func wait(in turns: ReadingTurns) {
        look(at: turns)
        lastRead = turns.current.number
    }

    /// From here on nothing is read, so that turns without this stream say nothing.
    mutating func pause(_ turns: ReadingTurns) {
        look(at: turns)
    }

    /// Reading goes on: the next turn is the first that tells.
    mutating func resume(_ turns: ReadingTurns) {
        lastRead = turns.current.number
    }

    private mutating func look(at turns: ReadingTurns) {
        if lastRead < turns.lastComplete.number { empty = turns.lastComplete.time }
    }
}
#endif
