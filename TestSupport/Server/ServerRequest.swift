import Foundation

/// A plain HTTP request as a test server received it.
public struct ServerRequest: Equatable, Sendable {
    /// The method in capitals, `GET`.
    public var method: String
    /// The path as sent, percent-encoded, without the query.
    public var path: String
    /// The query as sent, percent-encoded, without the question mark; empty where there was none.
    public var query: String
    /// The header fields; read them with ``header(_:)``, which doesn't mind capitals.
    public var headers: [String: String]
    /// The body, empty where there was none.
    public var body: Data

    /// Creates a request; `target` is the path with the query.
    public init(method: String, target: String, headers: [String: String] = [:], body: Data = Data()) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.method = method
        self.path = parts.first.map(String.init) ?? ""
        self.query = parts.count > 1 ? String(parts[1]) : ""
        self.headers = headers
        self.body = body
    }

    /// A header field's value; capitals in its name don't matter.
    public func header(_ name: String) -> String? {
        headers.first { $0.key.lowercased() == name.lowercased() }?.value
    }

    /// The query's parameters, decoded; of several with one name the last counts.
    public var parameters: [String: String] { Self.decodeForm(query) }

    /// The body's fields as an HTML form sends them, decoded; of several with one name the last counts.
    public var form: [String: String] { Self.decodeForm(text) }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body decoded from JSON.
    ///
    /// - Throws: what `JSONDecoder` throws.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    static func decodeForm(_ text: String) -> [String: String] {
        let pairs = text.split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : "")
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    private static func decode(_ text: Substring) -> String {
        let text = text.replacing("+", with: " ")
        return text.removingPercentEncoding ?? String(text)
    }
}

/// A test server's answer to a ``ServerRequest``.
public struct ServerResponse: Equatable, Sendable {
    /// The status code.
    public var status: Int
    /// The header fields, beside those that every response has.
    public var headers: [String: String]
    /// The body.
    public var body: Data

    /// Creates a response.
    public init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response of text, `text/plain` unless `contentType` says otherwise.
    public init(status: Int = 200, text: String, contentType: String = "text/plain; charset=utf-8") {
        self.init(status: status, headers: ["Content-Type": contentType], body: Data(text.utf8))
    }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }
}
