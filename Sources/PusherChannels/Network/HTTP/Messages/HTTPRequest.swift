import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that HTTP/1.1 can carry (RFC 9112, 3), and its bytes.
struct HTTPRequest: Sendable {
    /// The request's address, without the credentials that it may hold.
    let url: URL
    let secure: Bool
    let host: String
    let port: Int
    let method: String
    /// The time that the whole request may take.
    let timeout: Duration
    private let path: String
    private let fields: [(name: String, value: String)]
    private let body: [UInt8]

    init(_ request: URLRequest) throws(HTTPFailure) {
        guard let url = request.url, var components = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = url.scheme?.lowercased(), let secure = ["http": false, "https": true][scheme]
        else { throw Self.unusable(.unsupportedURL, "The address is neither http nor https") }
        let host = Self.withoutBrackets(url.host ?? "")
        guard HTTPSyntax.isHost(host) else {
            throw Self.unusable(.badURL, HTTPSyntax.noHost(host))
        }
        let port = url.port ?? (secure ? 443 : 80)
        guard (1...65535).contains(port) else { throw Self.unusable(.badURL, "\(port) is not a TCP port") }
        let query = components.percentEncodedQuery.map { "?\($0)" } ?? ""
        let path = (components.percentEncodedPath.isEmpty ? "/" : components.percentEncodedPath) + query
        guard HTTPSyntax.isPath(path) else { throw Self.unusable(.badURL, "The path of the address is not percent-encoded") }
        let method = request.httpMethod ?? "GET"
        guard HTTPSyntax.isToken(method), method != "CONNECT" else {
            throw Self.unusable(.unsupportedURL, "\"\(method)\" isn't a method for a request")
        }
        guard request.httpBodyStream == nil else {
            throw Self.unusable(.requestBodyStreamExhausted, "A body from a stream can't be sent: set httpBody instead")
        }
        body = request.httpBody.map { Array($0) } ?? []
        fields = try Self.fields(
            request, authority: HTTPSyntax.authority(host: host, port: port, secure: secure), method: method,
            bodySize: body.count, credentials: (url.user(percentEncoded: false), url.password(percentEncoded: false)))
        components.user = nil
        components.password = nil
        self.url = components.url ?? url
        self.secure = secure
        self.host = host
        self.port = port
        self.method = method
        self.path = path
        timeout = request.timeLimit
    }

    /// Indicates whether making the request twice has the same effect as making it once (RFC 9110, 9.2.2).
    var isIdempotent: Bool { ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method) }

    /// The server, for messages.
    var endpoint: String { endpointName(host: host, port: port) }

    /// Returns the request's bytes for the server itself, or for a proxy that makes the request in its own name.
    func bytes(forwardedBy proxy: HTTPProxy? = nil) -> [UInt8] {
        guard let proxy else { return requestHead("\(method) \(path)", fields) + body }
        let origin = "http://\(HTTPSyntax.authority(host: host, port: port, secure: secure))"
        return requestHead("\(method) \(origin)\(path)", fields + proxy.authorization) + body
    }

    // MARK: Fields

    /// Fields that say how the message is carried; a user's own would contradict that.
    private static let reserved: Set<String> = [
        "connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect",
        "accept-encoding", "proxy-authorization", "proxy-connection",
    ]

    private static func fields(
        _ request: URLRequest, authority: String, method: String, bodySize: Int, credentials: (user: String?, password: String?)
    ) throws(HTTPFailure) -> [(name: String, value: String)] {
        var own: [(name: String, value: String)] = []
        var names: Set<String> = []
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard HTTPSyntax.isToken(name), HTTPSyntax.isFieldValue(value) else {
                throw unusable(.unsupportedURL, "The header \(printable(name)) has characters that a header can't have")
            }
            guard !reserved.contains(name.lowercased()) else { continue }
            names.insert(name.lowercased())
            own.append((name, value))
        }
        var fields = [("Host", authority), ("User-Agent", userAgent), ("Accept", "*/*")]
        // A body without a type gets that of forms, as it usually is one; URLSession does so, too.
        if bodySize > 0 { fields.append(("Content-Type", "application/x-www-form-urlencoded")) }
        if let user = credentials.user {
            fields.append(("Authorization", basicAuthorization(user, credentials.password ?? "")))
        }
        fields.removeAll { names.contains($0.0.lowercased()) }
        fields += own
        // Nothing here can decompress a body.
        fields.append(("Accept-Encoding", "identity"))
        if bodySize > 0 || ["POST", "PUT", "PATCH"].contains(method) { fields.append(("Content-Length", "\(bodySize)")) }
        return fields
    }

    private static func unusable(_ code: URLError.Code, _ message: String) -> HTTPFailure {
        HTTPFailure(code, TransportError(.unsupported, message))
    }

    /// Returns a name in a form for logs, because it may have been made to look like more than one line.
    private static func printable(_ name: String) -> String {
        String(decoding: name.utf8.prefix(40).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }
}

extension URLRequest {
    /// The time that the request may take, a day at most. If it has no time-out, this is Foundation's default, as with
    /// Foundation.
    package var timeLimit: Duration {
        .seconds(timeoutInterval > 0 ? min(timeoutInterval, 86_400) : 60)
    }
}
