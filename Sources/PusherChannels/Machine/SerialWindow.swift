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

    /// The place before the serials that are unread, and before those that may still come, with what was read after it.
    func position(unread: Set<Int>, mayMiss: Bool) -> StreamPosition {
        let missing = mayMiss ? lowestMissing : nil
        let next = min(unread.min() ?? .max, missing ?? .max)
        let serial = min(highest, max(next - 1, 0))
        let (first, last) = (max(serial, highest - Self.size), serial + min(highest - serial, Self.size - 1))
        let seen = first < last ? (first + 1...last).filter { self[$0] && !unread.contains($0) } : []
        return StreamPosition(stream: stream, serial: serial, seen: seen)
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
        guard serial > highest - Self.size else { return .behind }
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

    /// The lowest serial that is missed; nil if none is.
    var lowestMissing: Int? {
        let first = max(settled, highest - Self.size)
        return first < highest ? (first + 1...highest).first { !self[$0] } : nil
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
