/// The servers of a client: the first one, and those to try when it can't be reached.
struct ServerList: Equatable, Sendable {
    /// The time after which a reconnect begins with the first server again.
    private static let returnTime: Duration = .seconds(600)

    /// For each server, whether connections to it begin with TLS.
    private var secure: [Bool]
    private(set) var current = 0
    private var leftFirst: Instant?
    private var hasTriedAnother = false

    init(_ secure: [Bool]) {
        self.secure = secure
    }

    var isSecure: Bool { secure[current] }

    mutating func beginAnew() {
        (current, leftFirst, hasTriedAnother) = (0, nil, false)
    }

    /// Puts another server in the place of the first one.
    mutating func replaceFirst(secure first: Bool) {
        secure[0] = first
        beginAnew()
    }

    /// Goes on to the next server after an attempt has failed.
    mutating func attemptFailed(at now: Instant) {
        if current == 0 { leftFirst = now }
        current = (current + 1) % secure.count
    }

    /// Goes back to the first server if enough time has passed and another one was tried.
    mutating func willReconnect(at now: Instant) {
        if let leftFirst, hasTriedAnother, now - leftFirst >= Self.returnTime { beginAnew() }
        hasTriedAnother = current != 0
    }
}
