/// Something that test doubles match: a request, a frame.
public protocol Matchable: Sendable {
    /// What a text means where a matcher is expected.
    static func matcher(_ text: String) -> Matcher<Self>
}

/// Tells which requests or frames are meant, and of others why they are not.
///
/// ```swift
/// session.stub("POST /pusher/auth" && .form(["channel_name": "private-room"]), .json(["auth": "key:signature"]))
/// socket.play(.establish(), .expect("pusher:subscribe" && .channel("news")))
/// ```
public struct Matcher<Subject: Matchable>: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// How a subject compares.
    struct Outcome {
        /// Why it is not meant; empty where it is.
        var reasons: [String] = []
        var pathParameters: [String: String] = [:]

        var isMatch: Bool { reasons.isEmpty }
    }

    /// What is looked for, for reports.
    public let description: String
    private let compare: @Sendable (Subject) -> Outcome

    init(_ description: String, compare: @escaping @Sendable (Subject) -> Outcome) {
        self.description = description
        self.compare = compare
    }

    /// Creates a matcher of your own.
    ///
    /// - Parameters:
    ///   - description: What is looked for, for reports.
    ///   - reason: Why a subject is not meant; `nil` where it is.
    public init(_ description: String, reason: @escaping @Sendable (Subject) -> String?) {
        self.init(description) { subject in Outcome(reasons: reason(subject).map { [$0] } ?? []) }
    }

    /// Creates a matcher of those that pass a test.
    public init(_ description: String = "those that pass a test", where test: @escaping @Sendable (Subject) -> Bool) {
        self.init(description) { subject in test(subject) ? nil : "it is not \(description)" }
    }

    /// Creates a matcher from a text, as ``Matchable/matcher(_:)`` reads it.
    public init(stringLiteral text: String) {
        self = Subject.matcher(text)
    }

    /// Everything.
    public static var any: Matcher { Matcher("anything") { _ in Outcome() } }

    /// Why a subject is not meant; empty where it is.
    public func reasonsAgainst(_ subject: Subject) -> [String] {
        compare(subject).reasons
    }

    /// Whether a subject is meant.
    public func matches(_ subject: Subject) -> Bool {
        compare(subject).isMatch
    }

    func outcome(of subject: Subject) -> Outcome {
        compare(subject)
    }

    // MARK: Together

    /// What both mean.
    public static func && (left: Matcher, right: Matcher) -> Matcher {
        Matcher("\(left) && \(right)") { subject in
            let (first, second) = (left.outcome(of: subject), right.outcome(of: subject))
            return Outcome(
                reasons: first.reasons + second.reasons,
                pathParameters: first.pathParameters.merging(second.pathParameters) { $1 })
        }
    }

    /// What one of them means.
    public static func || (left: Matcher, right: Matcher) -> Matcher {
        Matcher("(\(left) || \(right))") { subject in
            let first = left.outcome(of: subject)
            if first.isMatch { return first }
            let second = right.outcome(of: subject)
            if second.isMatch { return second }
            return Outcome(reasons: [(first.reasons + second.reasons).joined(separator: ", and ")])
        }
    }

    /// What it doesn't mean.
    public static prefix func ! (matcher: Matcher) -> Matcher {
        Matcher("!(\(matcher))") { subject in
            matcher.matches(subject) ? "it is \(matcher)" : nil
        }
    }
}
