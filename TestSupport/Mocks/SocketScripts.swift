import PusherChannels

/// The scripts of a ``MockWebSocket``, one a connection: a value without a socket.
struct SocketScripts: Sendable {
    private var waiting: ArraySlice<SocketScript> = []
    private var present: SocketScript?
    private var pausedUntil: MonotonicTime?
    private var count = 0
    private var found: [Finding] = []

    mutating func add(_ steps: [SocketStep]) {
        count += 1
        waiting.append(SocketScript(steps, name: "script \(count)"))
    }

    /// Begins the next script with a connection; `false` where none is left.
    mutating func begin() -> Bool {
        found += present?.findings ?? []
        present = waiting.popFirst()
        pausedUntil = nil
        return present != nil
    }

    /// When a script that waits goes on.
    var nextTime: MonotonicTime? { pausedUntil }

    /// The next step to take now.
    mutating func next(at now: MonotonicTime) -> SocketStep? {
        if let pausedUntil {
            guard pausedUntil <= now else { return nil }
            self.pausedUntil = nil
        }
        guard let step = present?.next() else { return nil }
        if case .wait(let duration) = step { pausedUntil = now + duration }
        return step
    }

    mutating func received(_ frame: SentFrame) {
        present?.received(frame)
    }

    mutating func nextComparison() -> (matcher: FrameMatcher, frame: SentFrame)? {
        present?.nextComparison()
    }

    mutating func compared(_ matcher: FrameMatcher, _ frame: SentFrame, reasons: [String]) {
        present?.compared(matcher, frame, reasons: reasons)
    }

    mutating func add(_ finding: Finding) {
        found.append(finding)
    }

    /// What a test should hear of at its end.
    var findings: [Finding] { found + (present?.findings ?? []) + waiting.flatMap(\.findings) }
}
