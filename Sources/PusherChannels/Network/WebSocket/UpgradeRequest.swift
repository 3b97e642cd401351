/// A request that HTTP can carry, and its bytes.
struct UpgradeRequest {
    let secure: Bool
    let host: String
    let port: Int
    private let path: String
    private let subprotocols: String?
    private let headers: [(name: String, value: String)]

    /// The largest size. Servers refuse more: nginx and Apache take lines of 8 KiB.
    private static let maximumSize = 8192

    /// Headers that belong to the handshake, where a user's own would break it, or to a proxy, which has its own settings.
    private static let reserved: Set<String> = [
        "host", "connection", "upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions",
        "content-length", "transfer-encoding", "proxy-authorization", "proxy-connection",
    ]

    init(_ request: WebSocketRequest) throws(TransportError) {
        try HTTPSyntax.checkEndpoint(host: request.host, port: request.port)
        guard HTTPSyntax.isPath(request.path) else {
            let path = request.path.addressWithoutSecrets.debugDescription
            throw TransportError(.unsupported, "The path must begin with / and be percent-encoded: \(path)")
        }
        secure = request.secure
        host = request.host
        port = request.port
        path = request.path

        var headers: [(name: String, value: String)] = []
        var subprotocols: String?
        var hasUserAgent = false
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
            guard HTTPSyntax.isToken(name), HTTPSyntax.isFieldValue(value) else {
                throw TransportError(
                    .unsupported, "The header \(name.debugDescription) has characters that a header can't have")
            }
            switch name.lowercased() {
            case let name where Self.reserved.contains(name): continue
            case "sec-websocket-protocol":
                guard ResponseHead.list(value).allSatisfy(HTTPSyntax.isToken) else {
                    throw TransportError(.unsupported, "The header \(name.debugDescription) isn't a list of subprotocols")
                }
                subprotocols = value
            case "user-agent":
                hasUserAgent = true
                fallthrough
            default: headers.append((name, value))
            }
        }
        if !hasUserAgent { headers.append(("User-Agent", userAgent)) }
        let size = headers.reduce(path.utf8.count + host.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= Self.maximumSize else {
            throw TransportError(.unsupported, "The host, path and headers are longer than \(Self.maximumSize) bytes")
        }
        self.headers = headers
        self.subprotocols = subprotocols
    }

    /// `host:port`, for messages.
    var endpoint: String { endpointName(host: host, port: port) }

    /// Starts the handshake for this request.
    func makeHandshake(nonce: (UInt64, UInt64)) -> UpgradeHandshake {
        UpgradeHandshake(nonce: nonce, subprotocols: subprotocols)
    }

    /// The request's bytes.
    func bytes(_ handshake: UpgradeHandshake) -> [UInt8] {
        let authority = HTTPSyntax.authority(host: host, port: port, secure: secure)
        return requestHead("GET \(path)", [("Host", authority)] + handshake.fields + headers)
    }
}
