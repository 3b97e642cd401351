import PusherChannels

/// The order in which timers come due: by deadline, then in the order they were made.
struct TimerKey: Comparable {
    let deadline: Instant
    let sequence: Int

    static func < (left: TimerKey, right: TimerKey) -> Bool {
        (left.deadline, left.sequence) < (right.deadline, right.sequence)
    }
}

/// A binary min-heap of timer keys.
struct TimerHeap {
    private var keys: [TimerKey] = []

    init() {}

    /// Builds a heap of the keys.
    init(_ keys: some Sequence<TimerKey>) {
        // An ascending array is a heap.
        self.keys = keys.sorted()
    }

    var first: TimerKey? { keys.first }
    var count: Int { keys.count }

    mutating func insert(_ key: TimerKey) {
        keys.append(key)
        var child = keys.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard keys[child] < keys[parent] else { return }
            keys.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = keys.popLast(), !keys.isEmpty else { return }
        keys[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < keys.count else { return }
            let right = left + 1
            let child = right < keys.count && keys[right] < keys[left] ? right : left
            guard keys[child] < keys[parent] else { return }
            keys.swapAt(child, parent)
            parent = child
        }
    }
}
