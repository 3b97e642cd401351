import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An HTTP request as a test double received it. Stubs match it, routes and the server respond to it, and tests inspect it.
public struct RecordedRequest: Equatable, Sendable, CustomStringConvertible {
    /// The method in uppercase, such as `GET`.
    public var method: String
    /// The URL as sent, percent-encoded. A server's requests that name no host have only the path and the query.
    public var url: String
    /// The header fields; to ignore the case of names, read them with ``header(_:)``.
    public var headers: [String: String]
    /// The body, read from the request's stream if necessary; empty if there was none.
    public var body: Data
    /// The decoded path parameters of a route such as `/users/{id}`.
    public internal(set) var pathParameters: [String: String] = [:]

    /// Creates a request.
    public init(method: String = "GET", url: String, headers: [String: String] = [:], body: Data = Data()) {
        self.method = method.uppercased()
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Creates a record of a request that is about to be made, reading the body from its stream if it has one.
    public init(_ request: URLRequest) {
        self.init(
            method: request.httpMethod ?? "GET", url: request.url?.absoluteString ?? "",
            headers: request.allHTTPHeaderFields ?? [:],
            body: request.httpBody ?? request.httpBodyStream.map(Self.readAll) ?? Data())
    }

    // MARK: URL

    /// The path as sent, percent-encoded, without the query; `/` if there is none.
    public var path: String {
        let path = target.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return path.isEmpty ? "/" : String(Substring(path))
    }

    /// The query as sent, percent-encoded, without the question mark; empty if there was none.
    public var query: String {
        String(Substring(target.prefix { $0 != UInt8(ascii: "#") }.drop { $0 != UInt8(ascii: "?") }.dropFirst()))
    }

    /// The decoded query parameters; if a name occurs more than once, the last value counts.
    public var parameters: [String: String] { Self.texts(queryFields) }

    /// The ``parameters`` by names that a client may choose.
    var queryFields: [Name: String] { Self.decodeForm(query) }

    /// The host as sent; empty if the URL has none.
    public var host: String { URLComponents(string: url)?.host ?? "" }

    /// The URL from its path onward.
    private var target: Substring.UTF8View {
        // The `://` may also be that of a URL in the query.
        let rest = url.utf8.drop { !":/?#".utf8.contains($0) }
        guard rest.starts(with: "://".utf8) else { return url.utf8[...] }
        return rest.dropFirst(3).drop { !"/?#".utf8.contains($0) }
    }

    // MARK: Contents

    /// Returns a header field's value, ignoring the case of its name.
    public func header(_ name: String) -> String? {
        headers.first { $0.key.isSameWord(as: name) }?.value
    }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body's fields, decoded as an HTML form; if a name occurs more than once, the last value counts.
    public var form: [String: String] { Self.texts(formFields) }

    /// The ``form`` by names that a client may choose.
    var formFields: [Name: String] { Self.decodeForm(text) }

    /// The body's fields as clients send them to authorize a channel or a user: those of a form, or the strings in a JSON object.
    var authorizationFields: [Name: String] {
        guard case .object(let members)? = json else { return formFields }
        return members.compactMapValues(\.stringValue)
    }

    /// Indicates whether an application may have posted this request to authorize a channel or a user. Its other requests may
    /// also name a connection, such as one to exclude from an event.
    var isForAuthorization: Bool {
        if let channel = authorizationFields["channel_name"] { return ChannelName(channel).needsAuthorization }
        let names = json?.objectValue.map { Array($0.keys) } ?? Array(formFields.keys)
        return names.contains("socket_id") && Set(names).isSubset(of: ["socket_id", "user_id", "user_info", "watchlist"])
    }

    /// Decodes the body from JSON.
    ///
    /// - Throws: Any error from `JSONDecoder`.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// The body as a JSON value; `nil` if it isn't JSON.
    package var json: JSONValue? { try? JSONValue(parsing: text) }

    /// The method and the URL, `POST https://example.com/pusher/auth`, without secrets in the query.
    public var description: String { "\(method) \(Redaction.standard.redact(url: url))" }

    // MARK: Reading

    private static func decodeForm(_ text: String) -> [Name: String] {
        Dictionary(fields(of: text).map { (Name($0.name), $0.value) }, uniquingKeysWith: { $1 })
    }

    /// Returns fields for a test, by names that it knows.
    private static func texts(_ fields: [Name: String]) -> [String: String] {
        Dictionary(fields.map { ($0.key.text, $0.value) }, uniquingKeysWith: { $1 })
    }

    /// Returns the decoded fields of a query or a form, in order.
    static func fields(of text: String) -> [(name: String, value: String)] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { field in
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            return (decode(name), decode(field[name.endIndex...].dropFirst()))
        }
    }

    /// Returns a name or a value, as it is if it can't be decoded.
    private static func decode(_ text: Substring.UTF8View) -> String {
        formDecoded(text) ?? String(decoding: text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    private static func readAll(_ stream: InputStream) -> Data {
        stream.open()
        defer { stream.close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return data }
            data.append(contentsOf: buffer[..<count])
        }
    }
}
