/// Somebody that events wait for.
protocol Consumer: AnyObject, Sendable {
    /// Whether no more should come for now.
    var isBehind: Bool { get }

    /// More comes all the same: whoever is behind gives up on some of it, and isn't waited for until it has caught up.
    ///
    /// - Parameter time: Everything that had come by then was heard: what is given up came later.
    func pauseLimitReached(heardUpTo time: MonotonicTime)
}

/// How somebody that events wait for keeps up.
enum Pace {
    case keepingUp
    /// There is no room for more: the server waits.
    case behind
    /// The server could not be made to wait longer: what there is no room for is dropped.
    case dropping
}

/// Everybody that events wait for; each counts for as long as it is there.
final class Consumers: Sendable {
    private struct Entry: WeakEntry {
        weak var object: (any Consumer)?
    }

    private let entries = Locked<[Entry]>([])

    func add(_ consumer: any Consumer) {
        entries.letGo { entries in
            defer { entries.append(Entry(object: consumer)) }
            return entries.removeGone()
        }
    }

    func pauseLimitReached(heardUpTo time: MonotonicTime) {
        for consumer in present { consumer.pauseLimitReached(heardUpTo: time) }
    }

    var present: [any Consumer] { entries.withLock { $0.compactMap(\.object) } }
}
