/// Actions that wait for their time, and can be taken back until then.
struct Agenda<Action> {
    /// Names one of the actions.
    typealias Number = UInt64

    private var deadlines = DeadlineHeap<Number>()
    private var actions: [Number: Action] = [:]
    private var lastNumber: Number = 0

    mutating func add(_ action: Action, at deadline: Instant) -> Number {
        lastNumber += 1
        actions[lastNumber] = action
        // Most are taken back: what is left of those is swept out once it is most of the heap.
        if deadlines.count > 64, deadlines.count > 2 * actions.count { deadlines.filter { actions[$0] != nil } }
        deadlines.insert(lastNumber, at: deadline)
        return lastNumber
    }

    // What is taken back may be the last to hold something that has an action of its own here, which is taken back then, in the
    // middle: whoever gets it lets go of it once this is as it should be.

    mutating func remove(_ number: Number) -> Action? {
        actions.removeValue(forKey: number)
    }

    /// When the next one is due. What was taken back is waited for by nobody.
    mutating func nextDeadline() -> Instant? {
        while let (_, number) = deadlines.first, actions[number] == nil { deadlines.removeFirst() }
        return deadlines.first?.deadline
    }

    /// The next one, if it is due.
    mutating func takeDue(at now: Instant) -> Action? {
        guard let deadline = nextDeadline(), deadline <= now, let number = deadlines.removeFirst() else { return nil }
        return actions.removeValue(forKey: number)
    }
}
