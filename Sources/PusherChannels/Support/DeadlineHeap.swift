/// Times at which something must be looked at, earliest first. Nothing needs to be taken out early: who reads a due entry knows
/// whether it still matters.
struct DeadlineHeap<Key: Equatable & Sendable>: Equatable, Sendable {
    private struct Entry: Equatable {
        let deadline: Instant
        let key: Key
    }

    private var entries: [Entry] = []

    var first: (deadline: Instant, key: Key)? {
        entries.first.map { ($0.deadline, $0.key) }
    }

    var count: Int { entries.count }

    /// Keeps those of some keys only.
    mutating func filter(_ isKept: (Key) -> Bool) {
        // What is sorted is a heap.
        entries = entries.filter { isKept($0.key) }.sorted { $0.deadline < $1.deadline }
    }

    mutating func insert(_ key: Key, at deadline: Instant) {
        entries.append(Entry(deadline: deadline, key: key))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].deadline < entries[parent].deadline else { return }
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
                if entries[child].deadline < entries[smallest].deadline { smallest = child }
            }
            guard smallest != parent else { return }
            entries.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
