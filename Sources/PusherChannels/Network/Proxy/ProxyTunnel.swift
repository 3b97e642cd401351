/// Asks an HTTP proxy for a tunnel (`CONNECT`; RFC 9110, 9.3.6), and reads its response.
struct ProxyTunnel {
    private let proxy: HTTPProxy
    private let target: String
    private var reader = ResponseHeadParser()

    init(through proxy: HTTPProxy, to target: String) {
        self.proxy = proxy
        self.target = target
    }

    /// The bytes to send to the proxy.
    var request: [UInt8] {
        requestHead("CONNECT \(target)", [("Host", target), ("User-Agent", userAgent)] + proxy.authorization)
    }

    /// Continues to read; returns whether the tunnel is open.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Bool {
        var cursor = ByteCursor(bytes)
        let response: ResponseHead?
        do throws(ResponseHeadParser.Problem) {
            response = try reader.read(&cursor)
        } catch {
            throw violation(error.description)
        }
        guard let response else { return false }
        guard (200..<300).contains(response.status) else {
            throw proxy.refusal(response.status, to: "the request for a tunnel to \(target)")
        }
        // The server behind the tunnel waits for the client to begin.
        guard cursor.remaining == 0 else { throw violation("it sends more than its answer") }
        return true
    }

    private func violation(_ problem: String) -> TransportError {
        TransportError(.protocolViolation, "Proxy \(proxy) doesn't answer like an HTTP proxy: \(problem)")
    }
}
