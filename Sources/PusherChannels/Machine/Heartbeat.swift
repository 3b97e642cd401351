/// Notices that a connection is dead: after silence it asks for a pong, and without one gives up (protocol rule: any inbound
/// frame counts as a sign of life). It also keeps the client alive for servers that count only what the client sends, and close a
/// connection on which they are busy sending.
struct Heartbeat: Equatable, Sendable {
    enum Verdict: Equatable {
        case ping
        case dead
    }

    private enum State: Equatable {
        case listening
        case awaitingPong(deadline: Instant)
        /// Nothing is read, so nothing can be heard; perhaps a sign of life is to be asked for afterwards.
        case paused(thenProbe: Bool)

        var isPaused: Bool { if case .paused = self { true } else { false } }
    }

    private let activityTimeout: Duration
    private let pongTimeout: Duration
    /// The time for which the client may send nothing: before the server's time is over, whatever the way takes. Kept, as a deadline
    /// is asked for at each read and a division of durations is long.
    private let sendInterval: Duration
    /// The time by which everything that had come was heard: what is missing came later.
    private(set) var heardUpTo: Instant
    /// The time at which the message before the last was heard: the one that is being handled came later.
    private(set) var heardBefore: Instant
    /// The time that silence is counted from: the last sign of life, or when one could be heard again.
    private var silentSince: Instant
    /// When the client sent something last.
    private var lastSent: Instant
    private var state = State.listening

    init(activityTimeout: Duration, pongTimeout: Duration, now: Instant) {
        self.activityTimeout = activityTimeout
        self.pongTimeout = pongTimeout
        sendInterval = activityTimeout / 4 * 3
        heardUpTo = now
        heardBefore = now
        silentSince = now
        lastSent = now
    }

    mutating func sent(at now: Instant) {
        lastSent = now
    }

    mutating func activity(at now: Instant) {
        if now > heardUpTo { heardBefore = heardUpTo }
        heardUpTo = now
        silentSince = now
        if !state.isPaused { state = .listening }
    }

    /// Notes that what was heard just now may have been said so long before, and a peer that said it so may be long gone.
    mutating func received(late age: Duration, at now: Instant) {
        heardUpTo = now - age
    }

    mutating func pause() {
        state = .paused(thenProbe: false)
    }

    /// Resumes: what came meanwhile is about to be read, if the connection is still there; returns whether to ask for a sign of life.
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

    /// Asks for a sign of life now; tells whether nobody has asked yet.
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
        case .paused: return .ping  // The pong is read with what waits; it isn't waited for.
        }
    }
}
