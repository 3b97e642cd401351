/// How far the script of one connection was played: a value without a socket.
struct SocketScript: Sendable {
    private let steps: [SocketStep]
    private let name: String
    private var index = 0
    /// Whether it was said that the connection is made.
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
        case .expect?, nil: return nil
        case .accept?, .serve?: hasAccepted = true
        default: break
        }
        index += 1
        return step
    }

    /// Hears what the client sent; tells what is wrong with it.
    mutating func received(_ frame: SentFrame) -> Finding? {
        guard index < steps.count, case .expect(let matcher) = steps[index] else { return nil }
        let reasons = matcher.reasonsAgainst(frame)
        guard reasons.isEmpty else {
            let text = "\(place) expects \(matcher), but came \(frame.summary): \(reasons.joined(separator: ", "))"
            return Finding(.outOfStep, text)
        }
        index += 1
        return nil
    }

    /// What was not come to.
    var unplayed: Finding? {
        guard index < steps.count else { return nil }
        return Finding(.unplayedStep, "\(place) was not come to: \(steps[index])")
    }

    private var place: String { "step \(index + 1) of \(steps.count) of \(name)" }
}
