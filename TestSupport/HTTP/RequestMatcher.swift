/// Tells which requests are meant, and of others why they are not.
///
/// ```swift
/// session.stub("POST /pusher/auth" && .form(["channel_name": "private-room"]), .json(["auth": "key:signature"]))
/// ```
///
/// A string is a method (or none, for any) and an address: a path, which may have names for parts of it such as
/// `/users/{id}` and says nothing about the query, or a whole address, compared as it is.
public struct RequestMatcher: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// How a request compares.
    struct Outcome {
        /// Why it is not meant; empty where it is.
        var reasons: [String] = []
        var pathParameters: [String: String] = [:]

        var isMatch: Bool { reasons.isEmpty }
    }

    /// What is looked for, for reports.
    public let description: String
    private let compare: @Sendable (RecordedRequest) -> Outcome

    init(_ description: String, compare: @escaping @Sendable (RecordedRequest) -> Outcome) {
        self.description = description
        self.compare = compare
    }

    /// Creates a matcher of your own.
    ///
    /// - Parameters:
    ///   - description: What is looked for, for reports.
    ///   - reason: Why a request is not meant; `nil` where it is.
    public init(_ description: String, reason: @escaping @Sendable (RecordedRequest) -> String?) {
        self.init(description) { request in Outcome(reasons: reason(request).map { [$0] } ?? []) }
    }

    /// Creates a matcher from `GET /users/{id}`, `/users/{id}` or `POST https://example.com/users`.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Creates a matcher from `GET /users/{id}`, `/users/{id}` or `POST https://example.com/users`.
    public init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let address = words.last ?? ""
        let place: RequestMatcher = address.contains("://") ? .url(address) : .path(address)
        let whole = words.count > 1 ? .method(words[0]) && place : place
        self.init(text) { whole.outcome(of: $0) }
    }

    /// Why a request is not meant; empty where it is.
    public func reasonsAgainst(_ request: RecordedRequest) -> [String] {
        compare(request).reasons
    }

    /// Whether a request is meant.
    public func matches(_ request: RecordedRequest) -> Bool {
        compare(request).isMatch
    }

    func outcome(of request: RecordedRequest) -> Outcome {
        compare(request)
    }

    // MARK: Together

    /// Requests that both mean.
    public static func && (left: RequestMatcher, right: RequestMatcher) -> RequestMatcher {
        RequestMatcher("\(left) && \(right)") { request in
            let (first, second) = (left.outcome(of: request), right.outcome(of: request))
            return Outcome(
                reasons: first.reasons + second.reasons,
                pathParameters: first.pathParameters.merging(second.pathParameters) { $1 })
        }
    }

    /// Requests that one of them means.
    public static func || (left: RequestMatcher, right: RequestMatcher) -> RequestMatcher {
        RequestMatcher("(\(left) || \(right))") { request in
            let first = left.outcome(of: request)
            if first.isMatch { return first }
            let second = right.outcome(of: request)
            if second.isMatch { return second }
            return Outcome(reasons: [(first.reasons + second.reasons).joined(separator: ", and ")])
        }
    }

    /// Requests that it doesn't mean.
    public static prefix func ! (matcher: RequestMatcher) -> RequestMatcher {
        RequestMatcher("!(\(matcher))") { request in
            matcher.matches(request) ? "it is \(matcher)" : nil
        }
    }
}
