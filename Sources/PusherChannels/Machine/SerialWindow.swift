/// The serials of a stream's latest events that a channel has had, and those that it misses among them.
struct SerialWindow: Equatable, Sendable {
    private static let size = StreamPosition.window

    let stream: Name
    private(set) var highest: Int
    /// The serial up to which none is missed.
    private var settled: Int
    /// A bit for each of the latest serials, in a ring.
    private var bits = [UInt64](repeating: 0, count: size / 64)

    /// Creates a window that expects the serials after this one, but for those that were seen.
    init(after position: StreamPosition) {
        stream = position.stream
        highest = position.serial
        settled = position.serial
        for serial in position.seen { _ = insert(serial) }
    }

    var position: StreamPosition { StreamPosition(stream: stream, serial: highest) }

    /// The place before the serials that are missing, if they may still come, with those after it that were had.
    func position(mayMiss: Bool) -> StreamPosition {
        guard mayMiss, let missing = lowestMissing else { return position }
        let last = missing + min(highest - missing, Self.size - 2)
        return StreamPosition(stream: stream, serial: missing - 1, seen: (missing...last).filter { self[$0] })
    }

    enum Place {
        case new
        case seen
        /// Too far behind to know.
        case behind
    }

    /// Adds a serial.
    mutating func insert(_ serial: Int) -> Place {
        advance(to: serial)
        guard !isOutOfSight(serial) else { return .behind }
        if self[serial] { return .seen }
        self[serial] = true
        while settled < highest, settled >= highest - Self.size, self[settled + 1] { settled += 1 }
        return .new
    }

    /// Expects only serials after this one, unless the window is there already.
    mutating func advance(to serial: Int) {
        guard serial > highest else { return }
        if serial - highest >= Self.size {
            bits = [UInt64](repeating: 0, count: bits.count)
        } else {
            for passed in highest + 1...serial { self[passed] = false }
        }
        highest = serial
    }

    /// Indicates whether any serial is missed, also one that is too far back to be known.
    var misses: Bool { settled < highest - Self.size || lowestMissing != nil }

    /// The lowest serial that is missed; nil if none is.
    var lowestMissing: Int? {
        let first = max(settled, highest - Self.size)
        return first < highest ? (first + 1...highest).first { !self[$0] } : nil
    }

    func has(_ position: StreamPosition) -> Bool {
        position.stream == stream && position.serial <= highest && !isOutOfSight(position.serial) && self[position.serial]
    }

    func isOutOfSight(_ serial: Int) -> Bool { serial <= highest - Self.size }

    /// Stops missing serials if there are some further back than it looks; returns whether there are.
    mutating func settleOutOfSight() -> Bool {
        guard settled < highest - Self.size else { return false }
        settle()
        return true
    }

    /// Stops missing serials up to this one, or all of them.
    mutating func settle(upTo serial: Int = .max) {
        settled = max(settled, min(serial, highest))
    }

    private subscript(serial: Int) -> Bool {
        get { bits[serial % Self.size / 64] >> UInt64(serial % 64) & 1 == 1 }
        set {
            let bit: UInt64 = 1 << UInt64(serial % 64)
            if newValue { bits[serial % Self.size / 64] |= bit } else { bits[serial % Self.size / 64] &= ~bit }
        }
    }
}

/// The serials of a stream that were missing when that was last looked at.
struct MissingSerials: Equatable, Sendable {
    let stream: Name
    /// The time up to which everything was heard when the first of them was found missing.
    var since: Instant
    /// That time for those that were found so after these were asked for.
    var othersSince: Instant
}

/// How far a channel was read, in the order in which its events came.
struct ReadPlace: Equatable, Sendable {
    private var window: SerialWindow?
    /// The streams that it was read in before, the latest last.
    private var earlierStreams: [Name] = []
    /// Indicates whether a serial that is missing may still come, so that the place is before it.
    private var mayMiss: Bool

    init(_ window: SerialWindow?, mayMiss: Bool) {
        self.window = window
        self.mayMiss = mayMiss
    }

    mutating func goOn(like place: ReadPlace) {
        if window?.lowestMissing == nil { mayMiss = place.mayMiss }
    }

    mutating func read(_ position: StreamPosition) {
        if window?.stream != position.stream {
            earlierStreams = (earlierStreams + (window.map { [$0.stream] } ?? [])).suffix(4)
            window = SerialWindow(after: StreamPosition(stream: position.stream, serial: max(position.serial - 1, 0)))
        }
        _ = window?.insert(position.serial)
    }

    /// The place to store for the next process; nil before the first event of the past that was asked for.
    var position: StreamPosition? { window?.position(mayMiss: mayMiss) }

    /// Returns the earlier of two readers' places. What one of them read after it, the other may not have.
    func earlier(_ other: ReadPlace) -> ReadPlace {
        guard let position, let another = other.position else { return position == nil ? self : other }
        let isOther =
            position.stream == another.stream ? another.serial < position.serial : earlierStreams.contains(another.stream)
        var first = isOther ? other : self
        let place = isOther ? another : position
        first.window = SerialWindow(after: StreamPosition(stream: place.stream, serial: place.serial))
        return first
    }
}
