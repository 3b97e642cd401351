/// The loads of a client or a pool: how many are under way at a time, and how much is held for all of them.
final class Loads: Sendable {
    /// Begins a load; returns false if it isn't wanted any more.
    typealias Start = @Sendable () -> Bool

    /// The number of bytes that may be held while states are loaded.
    private static let byteLimit = 16 << 20

    private struct State {
        var underWay = 0
        var waiting = Deque<Start>()
        var heldBytes = 0
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// Begins a load when it is its turn, outside the lock.
    func add(_ start: @escaping Start) {
        state.withLock { $0.waiting.append(start) }
        startNext()
    }

    /// Notes that a load that was begun has ended.
    func ended() {
        state.withLock { $0.underWay -= 1 }
        startNext()
    }

    private func startNext() {
        while let start = state.withLock({ takeNext(&$0) }) {
            if !start() { state.withLock { $0.underWay -= 1 } }
        }
    }

    private func takeNext(_ state: inout State) -> Start? {
        guard state.underWay < limit, let start = state.waiting.popFirst() else { return nil }
        state.underWay += 1
        return start
    }

    /// Counts bytes that are held; returns false if there is no room for them.
    func hold(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.heldBytes + bytes <= Self.byteLimit else { return false }
            state.heldBytes += bytes
            return true
        }
    }

    func release(_ bytes: Int) {
        if bytes > 0 { state.withLock { $0.heldBytes -= bytes } }
    }
}
