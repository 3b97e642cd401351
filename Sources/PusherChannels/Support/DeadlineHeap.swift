/// Actions that wait for their time, and can be taken back until then.
package struct Agenda<Action> {
    /// Names one of the actions.
    package typealias Number = UInt64

    private var deadlines = DeadlineHeap<Number>()
    private var actions: [Number: Action] = [:]
    private var lastNumber: Number = 0

    package init() {}

    package mutating func add(_ action: Action, at deadline: Instant) -> Number {
        lastNumber += 1
        actions[lastNumber] = action
        // Most are taken back: what is left of those is swept out once it is most of the heap.
        if deadlines.count > 64, deadlines.count > 2 * actions.count { deadlines.filter { actions[$0] != nil } }
        deadlines.insert(lastNumber, at: deadline)
        return lastNumber
    }

    // What is taken back may be the last to hold something that has an action of its own here, which is taken back then, in the
    // middle: the caller lets go of it once this is as it should be.

    package mutating func remove(_ number: Number) -> Action? {
        actions.removeValue(forKey: number)
    }

    /// The actions that wait, the next one first.
    package var waiting: [Action] { deadlines.keys.compactMap { actions[$0] } }

    /// The time at which the next one is due, not counting those that were taken back.
    package mutating func nextDeadline() -> Instant? {
        while let (_, number) = deadlines.first, actions[number] == nil { deadlines.removeFirst() }
        return deadlines.first?.deadline
    }

    /// The next one, if it is due.
    package mutating func takeDue(at now: Instant) -> Action? {
        guard let deadline = nextDeadline(), deadline <= now, let number = deadlines.removeFirst() else { return nil }
        return actions.removeValue(forKey: number)
    }
}

/// Times at which something must be looked at, earliest first. Nothing needs to be taken out early: the reader of a due entry knows
/// whether it still matters.
struct DeadlineHeap<Key: Equatable & Sendable>: Equatable, Sendable {
    private struct Entry: Equatable {
        let deadline: Instant
        /// The number of entries that were made before: of several for one time the oldest comes first.
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

    /// The deadline of a key; `nil` where it has none. Looks at all of them: for what a person reads.
    func deadline(of key: Key) -> Instant? { entries.first { $0.key == key }?.deadline }

    /// The keys, the earliest first.
    var keys: [Key] { entries.sorted { $0.isBefore($1) }.map(\.key) }

    /// Keeps those of some keys only.
    mutating func filter(_ isKept: (Key) -> Bool) {
        // What is sorted is a heap.
        entries = entries.filter { isKept($0.key) }.sorted { $0.isBefore($1) }
    }

    mutating func insert(_ key: Key, at deadline: Instant) {
        entries.append(Entry(deadline: deadline, number: entriesMade, key: key))
        entriesMade += 1
        var child = entries.count - 1
        while child > 0 {
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
