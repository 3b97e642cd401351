/// A type that test doubles match, such as a request or a frame.
public protocol Matchable: Sendable {
    /// Returns the matcher that a text stands for.
    static func matcher(_ text: String) -> Matcher<Self>
}

/// A condition on requests or frames that also explains why one doesn't match.
///
/// ```swift
/// session.stub("POST /pusher/auth" && .form(["channel_name": "private-room"]), .json(["auth": "key:signature"]))
/// socket.play(.establish(), .expect("pusher:subscribe" && .channel("news")))
/// ```
public struct Matcher<Subject: Matchable>: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The outcome of a comparison.
    struct Outcome {
        /// The reasons why the subject doesn't match; empty if it does.
        var reasons: [String] = []
        var pathParameters: [String: String] = [:]

        var isMatch: Bool { reasons.isEmpty }
    }

    /// The description of the matcher, for reports.
    public let description: String
    /// The reason why it can match nothing, whatever comes; nil if it can.
    let problem: String?
    private let compare: @Sendable (Subject) -> Outcome

    init(_ description: String, problem: String? = nil, compare: @escaping @Sendable (Subject) -> Outcome) {
        (self.description, self.problem) = (description, problem)
        self.compare = compare
    }

    /// Creates a matcher that can match nothing, as its own text is wrong.
    init(_ description: String, problem: String) {
        self.init(description, problem: problem) { _ in Outcome(reasons: [problem]) }
    }

    /// Creates a custom matcher.
    ///
    /// - Parameters:
    ///   - description: The matcher's name in reports.
    ///   - reason: A closure that returns why a subject doesn't match; `nil` if it does.
    public init(_ description: String, reason: @escaping @Sendable (Subject) -> String?) {
        self.init(description) { subject in Outcome(reasons: reason(subject).map { [$0] } ?? []) }
    }

    /// Creates a matcher for subjects that pass a test.
    public init(_ description: String = "those that pass a test", where test: @escaping @Sendable (Subject) -> Bool) {
        self.init(description) { subject in test(subject) ? nil : "it is not \(description)" }
    }

    /// Creates a matcher from a text, as ``Matchable/matcher(_:)`` reads it.
    public init(stringLiteral text: String) {
        self = Subject.matcher(text)
    }

    /// A matcher for everything.
    public static var any: Matcher { Matcher("anything") { _ in Outcome() } }

    /// Returns the reasons why a subject doesn't match; empty if it does.
    public func reasonsAgainst(_ subject: Subject) -> [String] {
        compare(subject).reasons
    }

    /// Returns whether a subject matches.
    public func matches(_ subject: Subject) -> Bool {
        compare(subject).isMatch
    }

    func outcome(of subject: Subject) -> Outcome {
        compare(subject)
    }

    // MARK: Combining matchers

    /// Returns a matcher for subjects that match both matchers.
    public static func && (left: Matcher, right: Matcher) -> Matcher {
        Matcher("\(left) && \(right)", problem: left.problem ?? right.problem) { subject in
            let (first, second) = (left.outcome(of: subject), right.outcome(of: subject))
            return Outcome(
                reasons: first.reasons + second.reasons,
                pathParameters: first.pathParameters.merging(second.pathParameters) { $1 })
        }
    }

    /// Returns a matcher for subjects that match either matcher.
    public static func || (left: Matcher, right: Matcher) -> Matcher {
        Matcher("(\(left) || \(right))", problem: left.problem ?? right.problem) { subject in
            let first = left.outcome(of: subject)
            if first.isMatch { return first }
            let second = right.outcome(of: subject)
            if second.isMatch { return second }
            return Outcome(reasons: [(first.reasons + second.reasons).joined(separator: ", and ")])
        }
    }

    /// Returns a matcher for subjects that don't match the given matcher.
    public static prefix func ! (matcher: Matcher) -> Matcher {
        if let problem = matcher.problem { return Matcher("!(\(matcher))", problem: problem) }
        return Matcher("!(\(matcher))") { subject in
            matcher.matches(subject) ? "it is \(matcher)" : nil
        }
    }
}
