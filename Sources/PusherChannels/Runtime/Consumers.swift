/// Somebody that events wait for.
protocol Consumer: AnyObject, Sendable {
    /// Whether no more should come for now.
    var isBehind: Bool { get }

    /// More comes all the same.
    func pauseLimitReached()
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

    func pauseLimitReached() {
        for consumer in present { consumer.pauseLimitReached() }
    }

    var present: [any Consumer] { entries.withLock { $0.compactMap(\.object) } }
}
