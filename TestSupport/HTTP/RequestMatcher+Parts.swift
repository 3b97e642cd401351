import Foundation
import PusherChannels

extension RequestMatcher {
    /// Every request.
    public static let any = RequestMatcher("any request") { _ in Outcome() }

    /// Requests with a method; capitals don't matter.
    public static func method(_ method: String) -> RequestMatcher {
        equal("method", method.uppercased()) { $0.method }
    }

    /// Requests for a whole address, compared as it is.
    public static func url(_ url: String) -> RequestMatcher {
        equal("address", url) { $0.url }
    }

    /// Requests to a host, on any port.
    public static func host(_ host: String) -> RequestMatcher {
        equal("host", host) { $0.host }
    }

    /// Requests for a path, as a whole and without the query; `/users/{id}` names parts of it, which
    /// ``RecordedRequest/pathParameters`` then holds.
    public static func path(_ path: String) -> RequestMatcher {
        let template = PathTemplate(path)
        return RequestMatcher("path \(path)") { request in
            guard let parameters = template.parameters(of: request.path) else {
                return Outcome(reasons: ["path is \(request.path), not \(path)"])
            }
            return Outcome(pathParameters: parameters)
        }
    }

    /// Requests whose path begins so.
    public static func path(startsWith prefix: String) -> RequestMatcher {
        RequestMatcher("path \(prefix)…") { request in
            request.path.hasPrefix(prefix) ? nil : "path is \(request.path), which doesn't begin with \(prefix)"
        }
    }

    /// Requests whose query has these parameters among others.
    public static func query(_ parameters: [String: String]) -> RequestMatcher {
        contains("query", parameters) { $0.parameters }
    }

    /// Requests whose body is an HTML form with these fields among others.
    public static func form(_ fields: [String: String]) -> RequestMatcher {
        contains("form", fields) { $0.form }
    }

    /// Requests with a header field; capitals in its name don't matter.
    ///
    /// - Parameter value: `nil` for any.
    public static func header(_ name: String, _ value: String? = nil) -> RequestMatcher {
        RequestMatcher("header \(name)\(value.map { ": \($0)" } ?? "")") { request in
            guard let actual = request.header(name) else { return "header \(name) is missing" }
            guard let value, value != actual else { return nil }
            return "header \(name) is \(shown(actual, as: name)), not \(shown(value, as: name))"
        }
    }

    /// Requests with a body of this text.
    public static func body(_ text: String) -> RequestMatcher {
        RequestMatcher("body \(text)") { request in
            request.text == text ? nil : "body is of \(request.body.count) bytes and another"
        }
    }

    /// Requests whose body is JSON with these members among others, at any depth, whatever the order of the keys.
    ///
    /// - Parameter text: A JSON document.
    public static func json(_ text: String) -> RequestMatcher {
        guard let expected = try? JSONValue(parsing: text) else {
            return RequestMatcher("JSON body") { _ in "the matcher's own JSON can't be read: \(text)" }
        }
        return RequestMatcher("JSON \(expected.text)") { request in
            guard let actual = request.json else { return Outcome(reasons: ["body is no JSON"]) }
            return Outcome(reasons: expected.reasonsAgainst(actual, at: "body"))
        }
    }

    private static func equal(
        _ part: String, _ expected: String, _ actual: @escaping @Sendable (RecordedRequest) -> String
    ) -> RequestMatcher {
        RequestMatcher("\(part) \(expected)") { request in
            let actual = actual(request)
            return actual == expected ? nil : "\(part) is \(actual.isEmpty ? "missing" : actual), not \(expected)"
        }
    }

    private static func contains(
        _ part: String, _ expected: [String: String], _ actual: @escaping @Sendable (RecordedRequest) -> [String: String]
    ) -> RequestMatcher {
        let fields = expected.sorted { $0.key < $1.key }
        return RequestMatcher("\(part) \(fields.map { "\($0.key)=\($0.value)" }.joined(separator: "&"))") { request in
            let actual = actual(request)
            return Outcome(
                reasons: fields.compactMap { name, value in
                    guard let found = actual[name] else { return "\(part) has no \(name)" }
                    return found == value ? nil : "\(part)'s \(name) is \(shown(found, as: name)), not \(shown(value, as: name))"
                })
        }
    }
}

extension JSONValue {
    /// Where another document differs from this one; members that only the other has don't count.
    func reasonsAgainst(_ actual: JSONValue, at path: String) -> [String] {
        switch (self, actual) {
        case (.object(let expected), .object(let members)):
            return expected.sorted { $0.key < $1.key }.flatMap { name, value in
                let path = "\(path).\(name)"
                return members[name].map { value.reasonsAgainst($0, at: path) } ?? ["\(path) is missing"]
            }
        case (.array(let expected), .array(let elements)):
            guard expected.count == elements.count else {
                return ["\(path) has \(elements.count) elements, not \(expected.count)"]
            }
            return zip(expected, elements).enumerated().flatMap { index, pair in
                pair.0.reasonsAgainst(pair.1, at: "\(path)[\(index)]")
            }
        default:
            guard !isSame(as: actual) else { return [] }
            let name = path.split(separator: ".").last.map(String.init) ?? path
            return ["\(path) is \(shown(actual.text, as: name)), not \(shown(text, as: name))"]
        }
    }

    /// Numbers are the same whether they have a fraction of nothing or none.
    private func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer(let integer), .double(let double)), (.double(let double), .integer(let integer)): Double(integer) == double
        default: self == other
        }
    }
}
