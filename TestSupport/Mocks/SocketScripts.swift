import PusherChannels

/// The scripts of a ``MockWebSocket``, one for each connection: a value without a socket.
struct SocketScripts: Sendable {
    /// Scripts are never removed: the socket's lock is held here, and objects that a script holds may use the socket when they
    /// are deallocated.
    private var scripts: [SocketScript] = []
    private var begun = 0
    private var present: Int?
    private var pausedUntil: Instant?
    private var found: [Finding] = []
    /// The socket's name in reports.
    private let socket: String

    init(socket: String) {
        self.socket = socket
    }

    mutating func add(_ steps: [SocketStep], location: String) {
        scripts.append(SocketScript(steps, name: "script \(scripts.count + 1) (\(location)) of \(socket)"))
    }

    /// Begins the next script with a connection. Returns `false` if none is left.
    mutating func begin() -> Bool {
        pausedUntil = nil
        present = begun < scripts.count ? begun : nil
        if present != nil { begun += 1 }
        return present != nil
    }

    /// The time at which a script that waits continues.
    var nextTime: Instant? { pausedUntil }

    /// Returns whether the next step to take now is to wait.
    func isAboutToWait(at now: Instant) -> Bool {
        (pausedUntil ?? now) <= now && present.map { scripts[$0].isAboutToWait } ?? false
    }

    /// Returns the next step to take now.
    mutating func next(at now: Instant) -> SocketStep? {
        if let pausedUntil {
            guard pausedUntil <= now else { return nil }
            self.pausedUntil = nil
        }
        guard let present, let step = scripts[present].next() else { return nil }
        if case .wait(let duration) = step { pausedUntil = now + duration }
        return step
    }

    mutating func received(_ frame: SentFrame) {
        if let present { scripts[present].received(frame) }
    }

    mutating func nextComparison() -> (matcher: FrameMatcher, frame: SentFrame)? {
        present.flatMap { scripts[$0].nextComparison() }
    }

    mutating func compared(_ matcher: FrameMatcher, _ frame: SentFrame, reasons: [String]) {
        if let present { scripts[present].compared(matcher, frame, reasons: reasons) }
    }

    mutating func add(_ finding: Finding) {
        found.append(finding)
    }

    /// The findings for a test's end.
    var findings: [Finding] { scripts.flatMap(\.findings) + found }
}
