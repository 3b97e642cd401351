import Foundation
import PusherChannels

extension Matcher where Subject == RecordedRequest {
    /// Matches requests whose whole path, as sent and without the query, matches a regular expression.
    ///
    /// The decoded texts of its groups are in ``RecordedRequest/pathParameters``, by number, `"1"`, and by name, `(?<id>[0-9]+)`.
    ///
    /// ```swift
    /// server.router.on("GET" && .path(matching: "/users/(?<id>[0-9]+)")) { .json(["id": $0.pathParameters["id"]]) }
    /// ```
    ///
    /// - Parameter pattern: The expression, in the syntax of `NSRegularExpression`. An invalid one matches nothing, and is
    ///   reported.
    public static func path(matching pattern: String) -> RequestMatcher {
        guard let expression = PathPattern(pattern) else {
            return RequestMatcher("path matching \(pattern)", problem: "\(pattern) is no regular expression")
        }
        return RequestMatcher("path matching \(pattern)") { request in
            guard let parameters = expression.parameters(of: request.path) else {
                return Outcome(reasons: ["path is \(request.path), which doesn't match \(pattern)"])
            }
            return Outcome(pathParameters: parameters)
        }
    }
}

/// A regular expression that matches whole paths.
private struct PathPattern: Sendable {
    private let expression: NSRegularExpression
    private let names: [String]

    init?(_ pattern: String) {
        guard let expression = try? NSRegularExpression(matchingWhole: pattern),
            let group = try? NSRegularExpression(pattern: #"(?<!\\)\(\?<([A-Za-z][A-Za-z0-9]*)>"#)
        else { return nil }
        self.expression = expression
        names = group.matches(in: pattern, range: NSRange(pattern.startIndex..., in: pattern)).compactMap { match in
            Range(match.range(at: 1), in: pattern).map { String(pattern[$0]) }
        }
    }

    /// Returns the texts of the groups; `nil` if the path doesn't match.
    func parameters(of path: String) -> [String: String]? {
        guard let match = expression.firstMatch(in: path, range: NSRange(path.startIndex..., in: path)) else { return nil }
        func text(_ range: NSRange) -> String? {
            Range(range, in: path).map { path[$0].removingPercentEncoding ?? String(path[$0]) }
        }
        var parameters: [String: String] = [:]
        for number in 1..<max(1, match.numberOfRanges) { parameters["\(number)"] = text(match.range(at: number)) }
        for name in names { parameters[name] = text(match.range(withName: name)) }
        return parameters
    }
}
