/// A check that notices a dead connection: after silence it asks for a pong, and without one it gives up (protocol rule: any
/// inbound frame counts as a sign of life). It also sends regularly, for servers that count only what the client sends and close
/// a connection on which they are busy sending.
struct Heartbeat: Equatable, Sendable {
    enum Verdict: Equatable {
        case ping
        case dead
    }

    private enum State: Equatable {
        case listening
        case awaitingPong(deadline: Instant)
        /// Nothing is read, so nothing can be heard. `thenProbe` asks for a sign of life afterwards.
        case paused(thenProbe: Bool)

        var isPaused: Bool { if case .paused = self { true } else { false } }
    }

    private let activityTimeout: Duration
    private let pongTimeout: Duration
    /// The time for which the client may send nothing. It is shorter than the server's time-out, to allow for delays on the way.
    /// It is stored because each read asks for a deadline, and dividing durations is slow.
    private let sendInterval: Duration
    /// The time up to which everything that had arrived was heard. Anything missing arrived later.
    private(set) var receivedUpTo: Instant
    /// The time at which the message before the last one was heard. The message being handled arrived later.
    private(set) var receivedBefore: Instant
    /// The start of the silence: the last sign of life, or the time from which one could be heard again.
    private var silentSince: Instant
    /// The time at which the client last sent something.
    private var lastSent: Instant
    private var state = State.listening

    /// - Parameter keepAlive: The longest time for which the client may send nothing, even if the server allows more: whatever is in
    ///   between may end silent connections.
    init(activityTimeout: Duration, keepAlive: Duration, pongTimeout: Duration, now: Instant) {
        self.activityTimeout = activityTimeout
        self.pongTimeout = pongTimeout
        sendInterval = min(activityTimeout / 4 * 3, keepAlive)
        receivedUpTo = now
        receivedBefore = now
        silentSince = now
        lastSent = now
    }

    mutating func sent(at now: Instant) {
        lastSent = now
    }

    mutating func activity(at now: Instant) {
        if now > receivedUpTo { receivedBefore = receivedUpTo }
        receivedUpTo = now
        silentSince = now
        if !state.isPaused { state = .listening }
    }

    /// Notes that the data heard just now may have been sent this long before, so the peer that sent it may be long gone.
    mutating func received(late age: Duration, at now: Instant) {
        receivedUpTo = now - age
    }

    mutating func pause() {
        state = .paused(thenProbe: false)
    }

    /// Resumes after a pause; returns whether to ask for a sign of life. Data that arrived meanwhile is about to be read, if the
    /// connection is still there.
    mutating func resume(at now: Instant) -> Bool {
        guard case .paused(let thenProbe) = state else { return false }
        silentSince = now
        state = .listening
        return thenProbe && probe(at: now)
    }

    private var sendBy: Instant { lastSent + sendInterval }

    var nextDeadline: Instant {
        switch state {
        case .listening: min(silentSince + activityTimeout, sendBy)
        case .awaitingPong(let deadline): deadline
        case .paused: sendBy
        }
    }

    /// Asks for a sign of life now; returns whether to send a ping for it.
    mutating func probe(at now: Instant) -> Bool {
        switch state {
        case .listening:
            state = .awaitingPong(deadline: now + pongTimeout)
            return true
        case .paused:
            state = .paused(thenProbe: true)
            return false
        case .awaitingPong:
            return false
        }
    }

    /// Returns what to do now that the deadline may have come; nil when it has not.
    mutating func check(at now: Instant) -> Verdict? {
        guard now >= nextDeadline else { return nil }
        switch state {
        case .listening: return probe(at: now) ? .ping : nil
        case .awaitingPong: return .dead
        case .paused: return .ping  // The pong is read after the waiting data, so it isn't awaited.
        }
    }
}
