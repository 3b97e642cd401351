/// The state of the script of one connection: a value without a socket.
struct SocketScript: Sendable {
    private let steps: [SocketStep]
    private let name: String
    private var index = 0
    /// The frames that the client sent and no step has looked at.
    private var unread = Deque<SentFrame>()
    private var found: [Finding] = []
    /// Indicates whether it was said that the connection is made.
    private var hasAccepted = false

    init(_ steps: [SocketStep], name: String) {
        self.steps = steps
        self.name = name
    }

    /// Takes the next step, unless that is one that waits for the client or nothing is left.
    ///
    /// That the connection is made goes without saying: before the first step that needs one, or at the end.
    mutating func next() -> SocketStep? {
        let step = index < steps.count ? steps[index] : nil
        if !hasAccepted, step?.needsConnection ?? true {
            hasAccepted = true
            return .accept
        }
        switch step {
        case nil, .expect?: return nil
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

    /// Hears what the client sent; a step that expects something looks at it when the script reaches it.
    mutating func received(_ frame: SentFrame) {
        unread.append(frame)
    }

    /// The frame that is expected, and the one that came; they are compared by a user's code, so by whoever holds no lock.
    mutating func nextComparison() -> (matcher: FrameMatcher, frame: SentFrame)? {
        guard hasAccepted, index < steps.count, case .expect(let matcher) = steps[index] else { return nil }
        return unread.popFirst().map { (matcher, $0) }
    }

    /// Hears how the comparison came out.
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
