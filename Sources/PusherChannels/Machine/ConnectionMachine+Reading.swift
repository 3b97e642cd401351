/// Back-pressure: reading pauses while the user's side can't keep up, so TCP makes the server wait. A pause can't last forever,
/// as pings wait, too.
extension ConnectionMachine {
    enum Reading: Equatable {
        case flowing
        /// Paused until no reader is behind, but no longer than this.
        case paused(until: Instant)
    }

    mutating func readersChanged(areOver: Bool, at now: Instant) {
        switch (reading, areOver) {
        case (.flowing, true):
            pauseReading(at: now)
        case (.paused, false):
            reading = .flowing
            readOn(at: now)
        case (.flowing, false), (.paused, true):
            break
        }
    }

    private mutating func pauseReading(at now: Instant) {
        reading = .paused(until: now + configuration.pauseLimit)
        guard session.changeHeartbeat({ $0.pause() }) != nil else { return }
        outputs.append(.setReading(false))
    }

    private mutating func readOn(at now: Instant) {
        guard let asks = session.changeHeartbeat({ $0.resume(at: now) }) else { return }
        outputs.append(.setReading(true))
        if asks { outputs.append(.command(.send(.ping))) }
    }

    /// Indicates whether replies of the server may lie unread. Their time-outs don't run then.
    var isReadingPaused: Bool {
        if case .paused = reading { true } else { false }
    }

    /// The time allowed for a reply that was due during a pause.
    var timeForUnreadReplies: Duration { max(configuration.timeouts.subscription, .seconds(1)) }

    var readingDeadline: Instant? {
        guard case .connected = session.phase, case .paused(let limit) = reading else { return nil }
        return limit
    }

    mutating func readingDeadlineReached(at now: Instant) {
        guard let deadline = readingDeadline, deadline <= now, case .connected(let established) = session.phase else { return }
        // Readers that were behind don't pause reading again until they have caught up; the next one that falls behind does.
        reading = .flowing
        decryption.crowded = []
        outputs.append(.log(.pauseLimitReached(configuration.pauseLimit)))
        outputs.append(.pauseLimitReached(receivedUpTo: established.heartbeat.receivedUpTo))
        readOn(at: now)
    }

    /// Turns reading on for a handshake, whatever the user's side does.
    mutating func readForHandshake() {
        if case .paused = reading { outputs.append(.setReading(true)) }
    }

    mutating func readAfterHandshake(at now: Instant) {
        if case .paused = reading { pauseReading(at: now) }
    }
}
