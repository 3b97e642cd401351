/// Asks an HTTP proxy for a tunnel (`CONNECT`; RFC 9110, 9.3.6), and reads its answer.
struct ProxyTunnel {
    private let proxy: HTTPProxy
    private let target: String
    private var reader = AnswerReader()

    init(through proxy: HTTPProxy, to target: String) {
        self.proxy = proxy
        self.target = target
    }

    /// What to send the proxy.
    var request: [UInt8] {
        var fields = [("Host", target), ("User-Agent", userAgent)]
        if let credentials = proxy.credentials {
            fields.append(("Proxy-Authorization", "Basic \(base64(Array("\(credentials.user):\(credentials.password)".utf8)))"))
        }
        return requestHead("CONNECT \(target)", fields)
    }

    /// Reads on; whether the tunnel is there.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(WebSocketFailure) -> Bool {
        var cursor = ByteCursor(bytes)
        let answer: UpgradeAnswer?
        do throws(AnswerReader.Problem) {
            answer = try reader.read(&cursor)
        } catch {
            throw violation(error.description)
        }
        guard let answer else { return false }
        guard (200..<300).contains(answer.status) else { throw refusal(answer.status) }
        // Whoever is behind the tunnel waits to be spoken to.
        guard cursor.remaining == 0 else { throw violation("it sends more than its answer") }
        return true
    }

    private func refusal(_ status: Int) -> WebSocketFailure {
        let hint =
            switch (status, proxy.credentials) {
            case (407, nil): " (it wants credentials)"
            case (407, _): " (it doesn't take the credentials)"
            default: ""
            }
        return WebSocketFailure(
            .proxyRefused(status: status),
            "Proxy \(proxy) answered the request for a tunnel to \(target) with HTTP \(status)\(hint)")
    }

    private func violation(_ problem: String) -> WebSocketFailure {
        WebSocketFailure(.protocolViolation, "Proxy \(proxy) doesn't answer like an HTTP proxy: \(problem)")
    }
}
