import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An HTTP request as a test double received it: what stubs match, what routes and the server answer, what is looked at afterwards.
public struct RecordedRequest: Equatable, Sendable, CustomStringConvertible {
    /// The method in capitals, `GET`.
    public var method: String
    /// The address as sent, percent-encoded. A server's requests that name no host have the path and the query only.
    public var url: String
    /// The header fields; read them with ``header(_:)``, which doesn't mind capitals.
    public var headers: [String: String]
    /// The body, wherever the request had it from; empty where there was none.
    public var body: Data
    /// The texts in the path for the parameters of a route such as `/users/{id}`, decoded.
    public internal(set) var pathParameters: [String: String] = [:]

    /// Creates a request.
    public init(method: String = "GET", url: String, headers: [String: String] = [:], body: Data = Data()) {
        self.method = method.uppercased()
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Writes down a request that is about to be made, with the body of its stream if it has one.
    public init(_ request: URLRequest) {
        self.init(
            method: request.httpMethod ?? "GET", url: request.url?.absoluteString ?? "",
            headers: request.allHTTPHeaderFields ?? [:],
            body: request.httpBody ?? request.httpBodyStream.map(Self.readAll) ?? Data())
    }

    // MARK: The address

    /// The path as sent, percent-encoded, without the query; `/` where there is none.
    public var path: String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? "/" : String(path)
    }

    /// The query as sent, percent-encoded, without the question mark; empty where there was none.
    public var query: String {
        let parts = target.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count > 1 ? String(parts[1]) : ""
    }

    /// The query's parameters, decoded; of several with one name the last counts.
    public var parameters: [String: String] { Self.decodeForm(query) }

    /// The host as sent; empty where the address has none.
    public var host: String { URLComponents(string: url)?.host ?? "" }

    /// The address from its path on.
    private var target: Substring {
        // An address may stand in a query, too.
        guard let authority = url.range(of: "://")?.upperBound,
            !url[..<authority].dropLast(2).contains(where: { "/?#".contains($0) })
        else { return url[...] }
        return url[authority...].drop { $0 != "/" && $0 != "?" && $0 != "#" }
    }

    // MARK: The contents

    /// A header field's value; capitals in its name don't matter.
    public func header(_ name: String) -> String? {
        headers.first { $0.key.lowercased() == name.lowercased() }?.value
    }

    /// The body as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body's fields as an HTML form sends them, decoded; of several with one name the last counts.
    public var form: [String: String] { Self.decodeForm(text) }

    /// The body's fields as clients send them to have a channel or a user signed: those of a form, or the texts of a JSON object.
    var authorizationFields: [String: String] {
        guard case .object(let members)? = json else { return form }
        // Names that JSON tells apart may be one as strings.
        return Dictionary(
            members.compactMap { name, value in value.stringValue.map { (name.text, $0) } }, uniquingKeysWith: { $1 })
    }

    /// Indicates whether an application may have posted it to have a channel or a user signed: its other requests may name a connection as
    /// well, one that an event leaves out.
    var isForAuthorization: Bool {
        if let channel = authorizationFields["channel_name"] { return ChannelName(channel).needsAuthorization }
        let names = json?.objectValue.map { $0.keys.map(\.text) } ?? Array(form.keys)
        return names.contains("socket_id") && Set(names).isSubset(of: ["socket_id", "user_id", "user_info", "watchlist"])
    }

    /// The body decoded from JSON.
    ///
    /// - Throws: what `JSONDecoder` throws.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    /// The body as a JSON value; `nil` where it is no JSON.
    package var json: JSONValue? { try? JSONValue(parsing: text) }

    /// `POST https://example.com/pusher/auth`; secrets in the query are left out.
    public var description: String { "\(method) \(Redaction.standard.redact(url: url))" }

    // MARK: Reading

    private static func decodeForm(_ text: String) -> [String: String] {
        Dictionary(fields(of: text).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    /// The fields of a query or a form in their order, decoded.
    static func fields(of text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : "")
        }
    }

    private static func decode(_ text: Substring) -> String {
        let text = text.replacing("+", with: " ")
        return text.removingPercentEncoding ?? String(text)
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
