/// The one timer of a connection. It is set again only when it would ring too late: one that rings early costs a look at the
/// clock, while a heartbeat's deadline moves with every message.
///
/// It is a value that knows what is to be set; its owner does that, and says which timer has rung.
struct DeadlineTimer: Sendable {
    /// The owner's task: cancel the timer there was, and set one for the deadline if there is one.
    struct Change {
        let previous: (any ScheduledAction)?
        let deadline: Instant?
        let number: Int
    }

    private var deadline: Instant?
    private var action: (any ScheduledAction)?
    private var number = 0

    /// Returns the change that makes a timer ring at a deadline; nil if it is set well.
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

    /// Keeps what cancels a timer that was set; false if it isn't needed any more.
    mutating func keep(_ action: any ScheduledAction, number: Int) -> Bool {
        guard number == self.number, deadline != nil else { return false }
        self.action = action
        return true
    }

    /// Tells whether the timer that rang is the one that is set.
    mutating func hasRung(_ number: Int) -> Bool {
        guard number == self.number, deadline != nil else { return false }
        (deadline, action) = (nil, nil)
        return true
    }

    /// Forgets the timer; gives back what cancels it.
    mutating func forget() -> (any ScheduledAction)? {
        defer { (deadline, action) = (nil, nil) }
        return action
    }
}
