/// Actions that wait for their deadlines, and can be removed until then.
package struct Agenda<Action> {
    /// The number that identifies an action.
    package typealias Number = UInt64

    private var deadlines = DeadlineHeap<Number>()
    private var actions: [Number: Action] = [:]
    private var lastNumber: Number = 0

    package init() {}

    package mutating func add(_ action: Action, at deadline: Instant) -> Number {
        lastNumber += 1
        actions[lastNumber] = action
        // Most actions are removed early. Their deadlines are swept out once they are most of the heap.
        if deadlines.count > 64, deadlines.count > 2 * actions.count { deadlines.filter { actions[$0] != nil } }
        deadlines.insert(lastNumber, at: deadline)
        return lastNumber
    }

    // A removed action may hold the last reference to something that has an action of its own here, which is then removed in the
    // middle of this call. So the caller releases the removed action once the agenda is consistent.

    package mutating func remove(_ number: Number) -> Action? {
        actions.removeValue(forKey: number)
    }

    /// The waiting actions, the next one first.
    package var waiting: [Action] { deadlines.keys.compactMap { actions[$0] } }

    /// Returns the time at which the next action is due, not counting removed ones.
    package mutating func nextDeadline() -> Instant? {
        while let (_, number) = deadlines.first, actions[number] == nil { deadlines.removeFirst() }
        return deadlines.first?.deadline
    }

    /// Removes and returns the next action, if it is due.
    package mutating func takeDue(at now: Instant) -> Action? {
        guard let deadline = nextDeadline(), deadline <= now, let number = deadlines.removeFirst() else { return nil }
        return actions.removeValue(forKey: number)
    }
}

/// Times at which something must be checked, earliest first. Nothing needs to be removed early: the reader of a due entry knows
/// whether it still matters.
struct DeadlineHeap<Key: Equatable & Sendable>: Equatable, Sendable {
    private struct Entry: Equatable {
        let deadline: Instant
        /// The number of entries that were made before: of several for the same time, the oldest comes first.
        let number: Int
        let key: Key

        func isBefore(_ other: Entry) -> Bool {
            deadline < other.deadline || (deadline == other.deadline && number < other.number)
        }
    }

    private var entries: [Entry] = []
    private var entriesMade = 0

    var first: (deadline: Instant, key: Key)? {
        entries.first.map { ($0.deadline, $0.key) }
    }

    var count: Int { entries.count }

    /// Returns the deadline of a key; `nil` if it has none. Looks at all entries, so it is only for output that people read.
    func deadline(of key: Key) -> Instant? { entries.first { $0.key == key }?.deadline }

    /// The keys, the earliest first.
    var keys: [Key] { entries.sorted { $0.isBefore($1) }.map(\.key) }

    /// Keeps only the entries of some keys.
    mutating func filter(_ isKept: (Key) -> Bool) {
        // A sorted array is a heap.
        entries = entries.filter { isKept($0.key) }.sorted { $0.isBefore($1) }
    }

    mutating func insert(_ key: Key, at deadline: Instant) {
        entries.append(Entry(deadline: deadline, number: entriesMade, key: key))
        entriesMade += 1
        var child = entries.count - 1
        while child > 0 {  // not a mutant: the first one isn't before itself
            let parent = (child - 1) / 2
            guard entries[child].isBefore(entries[parent]) else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    @discardableResult
    mutating func removeFirst() -> Key? {
        guard let last = entries.popLast() else { return nil }
        guard let first = entries.first else { return last.key }
        entries[0] = last
        sink()
        return first.key
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].isBefore(entries[smallest]) { smallest = child }
            }
            guard smallest != parent else { return }
            entries.swapAt(parent, smallest)
            parent = smallest
        }
    }
}

extension Agenda: Sendable where Action: Sendable {}
