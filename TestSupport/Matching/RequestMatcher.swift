import Foundation
import PusherChannels

/// A matcher for requests. A string literal is a method, an address, or a method and an address. The address is either a path,
/// which may have named parts such as `/users/{id}` and ignores the query, or a full URL, which is compared as is.
public typealias RequestMatcher = Matcher<RecordedRequest>

extension RecordedRequest: Matchable {
    /// Returns the matcher for a text such as `GET /users/{id}`, `/users/{id}`, `POST https://example.com/users` or `GET`.
    public static func matcher(_ text: String) -> RequestMatcher {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let address = words.last ?? ""
        if words.count == 1, address.allSatisfy({ $0.isASCII && $0.isUppercase }) { return .method(address) }
        let place: RequestMatcher = address.contains("://") ? .url(address) : .path(address)
        let whole = words.count > 1 ? .method(words[0]) && place : place
        return RequestMatcher(Redaction.standard.redact(url: text), problem: whole.problem) { whole.outcome(of: $0) }
    }
}

extension Matcher where Subject == RecordedRequest {
    /// Matches requests with a method, ignoring case.
    public static func method(_ method: String) -> RequestMatcher {
        equal("method", method.uppercased()) { $0.method }
    }

    /// Matches requests for a full URL, compared as is.
    public static func url(_ url: String) -> RequestMatcher {
        RequestMatcher("address \(Redaction.standard.redact(url: url))") { request in
            guard !request.url.hasBytes(of: url) else { return nil }
            let (actual, expected) = (Redaction.standard.redact(url: request.url), Redaction.standard.redact(url: url))
            return "address is \(actual.isEmpty ? "missing" : actual), not \(expected)"
        }
    }

    /// Matches requests to a host on any port, ignoring case.
    public static func host(_ host: String) -> RequestMatcher {
        equal("host", host.lowercased()) { $0.host.lowercased() }
    }

    /// Matches requests for a whole path, without the query. The parts named in it, as in `/users/{id}`, are in
    /// ``RecordedRequest/pathParameters``.
    public static func path(_ path: String) -> RequestMatcher {
        if path.contains(where: { "?#".contains($0) }) {
            return RequestMatcher("path \(path)", problem: "a path has no query: give the query with .query, or the full URL")
        }
        let template = PathTemplate(path)
        return RequestMatcher("path \(path)") { request in
            guard let parameters = template.parameters(of: request.path) else {
                return Outcome(reasons: ["path is \(request.path), not \(path)"])
            }
            return Outcome(pathParameters: parameters)
        }
    }

    /// Matches requests whose path begins with a prefix; what is percent-encoded in either is compared decoded.
    public static func path(startsWith prefix: String) -> RequestMatcher {
        RequestMatcher("path \(prefix)…") { request in
            PathTemplate.path(request.path, startsWith: prefix)
                ? nil : "path is \(request.path), which doesn't begin with \(prefix)"
        }
    }

    /// Matches requests whose query has at least these parameters, perhaps beside others of the same names.
    public static func query(_ parameters: [String: String]) -> RequestMatcher {
        contains("query", parameters) { RecordedRequest.fields(of: $0.query) }
    }

    /// Matches requests whose body is an HTML form with at least these fields, perhaps beside others of the same names.
    public static func form(_ fields: [String: String]) -> RequestMatcher {
        contains("form", fields) { RecordedRequest.fields(of: $0.text) }
    }

    /// Matches requests with a header field, ignoring the case of its name.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The field's value; `nil` for any.
    public static func header(_ name: String, _ value: String? = nil) -> RequestMatcher {
        RequestMatcher("header \(name)\(value.map { ": \(Redaction.standard.redact($0, named: name))" } ?? "")") { request in
            guard let actual = request.header(name) else { return "header \(name) is missing" }
            guard let value, !value.hasBytes(of: actual) else { return nil }
            return
                "header \(name) is \(Redaction.standard.redact(actual, named: name)), not \(Redaction.standard.redact(value, named: name))"
        }
    }

    /// Matches requests whose body is this text.
    public static func body(_ text: String) -> RequestMatcher {
        RequestMatcher("body \(Redaction.standard.redact(text))") { request in
            request.text.hasBytes(of: text) ? nil : "body is of \(request.body.count) bytes and another"
        }
    }

    /// Matches requests whose body is JSON with at least these members, at any depth and in any order of keys.
    ///
    /// - Parameter text: A JSON document.
    public static func json(_ text: String) -> RequestMatcher {
        .json(text, of: "body") { $0.json }
    }

    private static func equal(
        _ part: String, _ expected: String, _ actual: @escaping @Sendable (RecordedRequest) -> String
    ) -> RequestMatcher {
        RequestMatcher("\(part) \(expected)") { request in
            let actual = actual(request)
            return actual.hasBytes(of: expected) ? nil : "\(part) is \(actual.isEmpty ? "missing" : actual), not \(expected)"
        }
    }

    private static func contains(
        _ part: String, _ expected: [String: String],
        _ actual: @escaping @Sendable (RecordedRequest) -> [(name: String, value: String)]
    ) -> RequestMatcher {
        let fields = expected.sorted { $0.key < $1.key }
        let shown = fields.map { "\($0.key)=\(Redaction.standard.redact($0.value, named: $0.key))" }
        return RequestMatcher("\(part) \(shown.joined(separator: "&"))") { request in
            let actual = actual(request)
            return Outcome(
                reasons: fields.compactMap { name, value in
                    let found = actual.filter { $0.name.hasBytes(of: name) }.map(\.value)
                    if found.isEmpty { return "\(part) has no \(name)" }
                    if found.contains(where: value.hasBytes(of:)) { return nil }
                    let redact = { Redaction.standard.redact($0, named: name) }
                    return "\(part)'s \(name) is \(found.map(redact).joined(separator: ", ")), not \(redact(value))"
                })
        }
    }
}
