/// A client's upgrade to WebSocket in progress: writes the request's bytes and reads the response's.
struct UpgradeExchange {
    /// The meaning of the server's response.
    enum Outcome {
        /// Frames follow.
        case upgraded
        /// The server redirects the client.
        case redirected(WebSocketRequest)
    }

    private let request: WebSocketRequest
    private let endpoint: String
    private let handshake: UpgradeHandshake
    private var parser = ResponseHeadParser()
    private var output = ByteQueue()

    /// Creates the exchange for a request that was checked.
    init(_ request: WebSocketRequest, as upgrade: UpgradeRequest, nonce: (UInt64, UInt64)) {
        self.request = request
        endpoint = upgrade.endpoint
        handshake = upgrade.makeHandshake(nonce: nonce)
        output.bytes = upgrade.bytes(handshake)
    }

    /// Calls `body` with the bytes to write; it returns how many of them the stream took.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int) {
        output.write(body)
    }

    /// Continues to read, but not beyond the response; returns `nil` if some of it is still to come.
    mutating func read(_ cursor: inout ByteCursor) throws(TransportError) -> Outcome? {
        guard let response = try readHead(&cursor) else { return nil }
        if request.maximumRedirects > 0, let next = response.redirect(of: request) { return .redirected(next) }
        do throws(UpgradeRefusal) {
            _ = try handshake.check(response)
        } catch {
            throw error.failure(endpoint: endpoint)
        }
        return .upgraded
    }

    private mutating func readHead(_ cursor: inout ByteCursor) throws(TransportError) -> ResponseHead? {
        do throws(ResponseHeadParser.Problem) {
            return try parser.read(&cursor)
        } catch {
            let text = "\(endpoint) doesn't answer like a WebSocket server: \(error.description)"
            throw TransportError(.protocolViolation, text)
        }
    }
}
