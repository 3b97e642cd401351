/// Reading stops while the user's side can't keep up, so that TCP makes the server wait; not for ever, as pings wait, too.
extension ConnectionMachine {
    enum Reading: Equatable {
        case flowing
        /// Until its user has caught up, or then.
        case paused(until: MonotonicTime)
        /// Its user has not caught up in the time for it; what follows is not read's matter.
        case overdue
    }

    mutating func consumersChanged(areBehind: Bool, at now: MonotonicTime, into effects: inout [Effect]) {
        switch (reading, areBehind) {
        case (.flowing, true):
            pauseReading(at: now, into: &effects)
        case (.paused, false):
            reading = .flowing
            readOn(at: now, into: &effects)
        case (.overdue, false):
            reading = .flowing
        case (.flowing, false), (.paused, true), (.overdue, true):
            break
        }
    }

    private mutating func pauseReading(at now: MonotonicTime, into effects: inout [Effect]) {
        reading = .paused(until: now + configuration.pauseLimit)
        guard case .connected(var session) = phase else { return }
        session.heartbeat.pause()
        phase = .connected(session)
        effects.append(.setReading(false))
    }

    private mutating func readOn(at now: MonotonicTime, into effects: inout [Effect]) {
        guard case .connected(var session) = phase else { return }
        session.heartbeat.resume(at: now)
        phase = .connected(session)
        effects.append(.setReading(true))
    }

    var readingDeadline: MonotonicTime? {
        guard case .connected = phase, case .paused(let limit) = reading else { return nil }
        return limit
    }

    mutating func readingDeadlineReached(at now: MonotonicTime, into effects: inout [Effect]) {
        guard let deadline = readingDeadline, deadline <= now else { return }
        reading = .overdue
        effects.append(.log(.warning, "nothing was read for \(configuration.pauseLimit), and there still is no room for more"))
        effects.append(.pauseLimitReached)
        readOn(at: now, into: &effects)
    }

    /// A connection is made with reading on, whatever the user's side does.
    mutating func readForHandshake(into effects: inout [Effect]) {
        if case .paused = reading { effects.append(.setReading(true)) }
    }

    mutating func readAfterHandshake(at now: MonotonicTime, into effects: inout [Effect]) {
        if case .paused = reading { pauseReading(at: now, into: &effects) }
    }
}
