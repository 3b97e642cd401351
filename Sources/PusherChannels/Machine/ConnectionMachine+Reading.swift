/// Back-pressure: reading pauses while the user's side can't keep up, so TCP makes the server wait. A pause can't last forever,
/// as pings wait, too.
extension ConnectionMachine {
    enum Reading: Equatable {
        case flowing
        /// Paused until no reader is behind, but no longer than this.
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

    /// Indicates whether replies of the server may lie unread. Their time-outs don't run then.
    var isReadingPaused: Bool {
        if case .paused = reading { true } else { false }
    }

    /// The time allowed for a reply that was due during a pause.
    var timeForUnreadReplies: Duration { max(configuration.timeouts.subscription, .seconds(1)) }

    var readingDeadline: Instant? {
        guard case .connected = phase, case .paused(let limit) = reading else { return nil }
        return limit
    }

    mutating func readingDeadlineReached(at now: Instant, into effects: inout [Effect]) {
        guard let deadline = readingDeadline, deadline <= now, case .connected(let session) = phase else { return }
        // Readers that were behind don't pause reading again until they have caught up; the next one that falls behind does.
        reading = .flowing
        channelsToDecrypt = []
        effects.append(.log(.pauseLimitReached(configuration.pauseLimit)))
        effects.append(.pauseLimitReached(heardUpTo: session.heartbeat.heardUpTo))
        readOn(at: now, into: &effects)
    }

    /// Turns reading on for a handshake, whatever the user's side does.
    mutating func readForHandshake(into effects: inout [Effect]) {
        if case .paused = reading { effects.append(.setReading(true)) }
    }

    mutating func readAfterHandshake(at now: Instant, into effects: inout [Effect]) {
        if case .paused = reading { pauseReading(at: now, into: &effects) }
    }
}
