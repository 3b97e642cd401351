/// The only timer of a connection. It is set again only if it would fire too late: firing early costs a look at the clock, while
/// a heartbeat's deadline moves with every message.
///
/// It is a value that decides when the timer must be set. Its owner sets it, and reports which timer has fired.
struct DeadlineTimer: Sendable {
    /// The owner's task: cancel the previous timer, and set one for the deadline if there is one.
    struct Change {
        let previous: (any ScheduledAction)?
        let deadline: Instant?
        let number: Int
    }

    private var deadline: Instant?
    private var action: (any ScheduledAction)?
    private var number = 0

    /// Returns the change that makes a timer fire at a deadline; nil if none is needed.
    mutating func change(for next: Instant?) -> Change? {
        switch (deadline, next) {
        case (nil, nil): return nil
        case (let set?, let next?) where set <= next: return nil
        case (_?, _?), (nil, _?), (_?, nil): break
        }
        number += 1
        defer { (deadline, action) = (next, nil) }
        return Change(previous: action, deadline: next, number: number)
    }

    /// Keeps the action that cancels a timer; returns false if the timer isn't needed anymore.
    mutating func keep(_ action: any ScheduledAction, number: Int) -> Bool {
        guard number == self.number, deadline != nil else { return false }
        self.action = action
        return true
    }

    /// Returns whether the timer that fired is the one that is set.
    mutating func hasFired(_ number: Int) -> Bool {
        guard number == self.number, deadline != nil else { return false }
        (deadline, action) = (nil, nil)
        return true
    }

    /// Forgets the timer; returns the action that cancels it.
    mutating func forget() -> (any ScheduledAction)? {
        defer { (deadline, action) = (nil, nil) }
        return action
    }
}
