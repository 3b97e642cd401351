/// The state of one connection's script: a value without a socket.
struct SocketScript: Sendable {
    private let steps: [SocketStep]
    private let name: String
    private var index = 0
    /// The frames that the client sent and that no step has looked at.
    private var unread = Deque<SentFrame>()
    private var found: [Finding] = []
    /// Indicates whether the step that makes the connection was taken.
    private var hasAccepted = false

    init(_ steps: [SocketStep], name: String) {
        self.steps = steps
        self.name = name
    }

    /// Takes the next step, unless that step waits for the client or none is left.
    ///
    /// The connection is made implicitly, before the first step that needs one or at the end.
    mutating func next() -> SocketStep? {
        let step = index < steps.count ? steps[index] : nil
        if !hasAccepted, step?.needsConnection ?? true {
            hasAccepted = true
            return .accept
        }
        switch step {
        case nil, .expect?: return nil
        case .serve? where hasAccepted:
            found.append(Finding(.outOfStep, "\(place), serve, comes after a step that needs a connection"))
        case .accept?, .serve?: hasAccepted = true
        default: break
        }
        index += 1
        return step
    }

    /// Indicates whether the next step is to wait.
    var isAboutToWait: Bool {
        guard index < steps.count, case .wait = steps[index] else { return false }
        return true
    }

    /// Receives a frame from the client; a step that expects something looks at it when the script reaches it.
    mutating func received(_ frame: SentFrame) {
        unread.append(frame)
    }

    /// Returns the expected frame and the frame that came. User code compares them, so the caller must not hold a lock while
    /// doing so.
    mutating func nextComparison() -> (matcher: FrameMatcher, frame: SentFrame)? {
        guard hasAccepted, index < steps.count, case .expect(let matcher) = steps[index] else { return nil }
        return unread.popFirst().map { (matcher, $0) }
    }

    /// Receives the result of the comparison.
    mutating func compared(_ matcher: FrameMatcher, _ frame: SentFrame, reasons: [String]) {
        if reasons.isEmpty { index += 1 } else { found.append(outOfStep(matcher, frame, reasons)) }
    }

    private func outOfStep(_ matcher: FrameMatcher, _ frame: SentFrame, _ reasons: [String]) -> Finding {
        Finding(.outOfStep, "\(place) expects \(matcher), but came \(frame.summary): \(reasons.joined(separator: ", "))")
    }

    var findings: [Finding] { found + [unplayed].compactMap(\.self) }

    /// The finding for the steps that were not reached.
    private var unplayed: Finding? {
        guard index < steps.count else { return nil }
        return Finding(.unplayedStep, "\(place) was not reached: \(steps[index])")
    }

    private var place: String { "step \(index + 1) of \(steps.count) of \(name)" }
}
