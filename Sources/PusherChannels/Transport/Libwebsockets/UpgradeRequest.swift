#if canImport(CLibwebsockets)

/// A request checked against what libwebsockets can carry, in the pieces that it wants.
///
/// libwebsockets writes the request into fixed buffers and cuts what doesn't fit without a word, so lengths are checked here;
/// characters are, because a line break in a path or header would end up as a header of somebody else's making.
struct UpgradeRequest {
    let secure: Bool
    let host: String
    let port: Int
    let path: String
    /// Value of the `Host` header; the name without the port is what TLS verifies.
    let hostHeader: String
    /// Value of `Sec-WebSocket-Protocol`, which libwebsockets wants to send itself.
    let subprotocols: String?
    /// Further headers: names with their colon, as libwebsockets wants them, and values.
    let headers: [(name: String, value: String)]

    /// `host:port`, for messages.
    var endpoint: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Headers that belong to the handshake; one set by a user would break it.
    private static let reserved: Set<String> = [
        "host", "connection", "upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions",
    ]

    init(_ request: WebSocketRequest) throws(WebSocketFailure) {
        let isIPv6 = request.host.contains(":")
        guard !request.host.isEmpty, request.host.utf8.allSatisfy({ Self.isVisible($0) && $0 != UInt8(ascii: "/") }) else {
            throw WebSocketFailure(.unsupported, "\"\(request.host)\" is no host name (beyond ASCII: use the xn-- form)")
        }
        guard (1...65535).contains(request.port) else {
            throw WebSocketFailure(.unsupported, "\(request.port) is not a TCP port")
        }
        guard request.path.hasPrefix("/"), request.path.utf8.allSatisfy(Self.isVisible) else {
            throw WebSocketFailure(.unsupported, "The path must begin with / and be percent-encoded: \(request.path)")
        }
        // Cut at its first colon, such a host would be verified as "[", or with another spelling as nothing at all.
        guard !(request.secure && isIPv6) else {
            throw WebSocketFailure(.unsupported, "wss to the IPv6 address \(request.host) can't be verified; use a host name")
        }
        secure = request.secure
        host = request.host
        port = request.port
        path = request.path
        let name = isIPv6 ? "[\(request.host.prefix { $0 != "%" })]" : request.host
        hostHeader = request.port == (request.secure ? 443 : 80) ? name : "\(name):\(request.port)"
        guard hostHeader.utf8.count <= 110, path.utf8.count <= 2000 else {
            throw WebSocketFailure(.unsupported, "The host or the path is too long for libwebsockets (110 and 2000 bytes)")
        }

        var headers: [(name: String, value: String)] = []
        var subprotocols: String?
        var hasUserAgent = false
        for (name, value) in request.headers.sorted(by: { $0.key < $1.key }) {
            guard Self.isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw WebSocketFailure(.unsupported, "The header \(name) has characters that a header can't have")
            }
            switch name.lowercased() {
            case let name where Self.reserved.contains(name): continue
            case "sec-websocket-protocol": subprotocols = value
            case "user-agent":
                hasUserAgent = true
                fallthrough
            default: headers.append(("\(name):", value))
            }
        }
        if !hasUserAgent {
            headers.append(("User-Agent:", "swift-pusher-channels/\(libraryVersion)"))
        }
        let size = headers.reduce(subprotocols?.utf8.count ?? 0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= 8192 else {
            throw WebSocketFailure(.unsupported, "The headers are longer than 8 KiB")
        }
        self.headers = headers
        self.subprotocols = subprotocols
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    private static func isToken(_ name: String) -> Bool {
        let separators = "()<>@,;:\\\"/[]?={}".utf8
        return !name.isEmpty && name.utf8.allSatisfy { isVisible($0) && !separators.contains($0) }
    }
}
#endif
