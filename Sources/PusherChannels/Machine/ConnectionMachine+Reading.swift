/// Reading stops while the user's side can't keep up, so that TCP makes the server wait; not for ever, as pings wait, too.
extension ConnectionMachine {
    enum Reading: Equatable {
        case flowing
        /// Until nobody is behind any more, or then.
        case paused(until: Instant)
    }

    mutating func readersChanged(areOver: Bool, at now: Instant, into effects: inout [Effect]) {
        switch (reading, areOver) {
        case (.flowing, true):
            pauseReading(at: now, into: &effects)
        case (.paused, false):
            reading = .flowing
            readOn(at: now, into: &effects)
        case (.flowing, false), (.paused, true):
            break
        }
    }

    private mutating func pauseReading(at now: Instant, into effects: inout [Effect]) {
        reading = .paused(until: now + configuration.pauseLimit)
        guard case .connected(var session) = phase else { return }
        session.heartbeat.pause()
        phase = .connected(session)
        effects.append(.setReading(false))
    }

    private mutating func readOn(at now: Instant, into effects: inout [Effect]) {
        guard case .connected(var session) = phase else { return }
        let asks = session.heartbeat.resume(at: now)
        phase = .connected(session)
        effects.append(.setReading(true))
        if asks { effects.append(.send(.ping)) }
    }

    /// Indicates whether what the server has said may lie unread: the time for an answer doesn't run then.
    var isReadingPaused: Bool {
        if case .paused = reading { true } else { false }
    }

    /// The time that an answer has which was due during a pause.
    var timeForUnreadReplies: Duration { max(configuration.timeouts.subscription, .seconds(1)) }

    var readingDeadline: Instant? {
        guard case .connected = phase, case .paused(let limit) = reading else { return nil }
        return limit
    }

    mutating func readingDeadlineReached(at now: Instant, into effects: inout [Effect]) {
        guard let deadline = readingDeadline, deadline <= now, case .connected(let session) = phase else { return }
        // A reader that was behind isn't waited for until it has caught up; the next that falls behind is.
        reading = .flowing
        channelsToDecrypt = []
        effects.append(.log(.pauseLimitReached(configuration.pauseLimit)))
        effects.append(.pauseLimitReached(heardUpTo: session.heartbeat.heardUpTo))
        readOn(at: now, into: &effects)
    }

    /// A connection is made with reading on, whatever the user's side does.
    mutating func readForHandshake(into effects: inout [Effect]) {
        if case .paused = reading { effects.append(.setReading(true)) }
    }

    mutating func readAfterHandshake(at now: Instant, into effects: inout [Effect]) {
        if case .paused = reading { pauseReading(at: now, into: &effects) }
    }
}
