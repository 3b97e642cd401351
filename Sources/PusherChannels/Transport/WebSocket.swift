/// A WebSocket connection as the SDK needs it: the seam under a connection.
///
/// One value serves any number of attempts, one after the other. All members may be called from any thread. For each
/// ``open(_:attempt:)`` the delegate hears at most one `didOpen`, any number of messages, and **exactly one** `didClose`,
/// also when the socket was closed by ``close(code:reason:)`` before it was open. Reports of one attempt never overlap.
public protocol WebSocket: AnyObject, Sendable {
    /// Who hears of this socket; held weakly.
    var delegate: (any WebSocketDelegate)? { get set }

    /// Starts connecting. An earlier attempt that is still open is abandoned: closed, and reported as closed.
    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt)

    /// Sends one text message. Dropped when the socket is not open: the close report says so.
    func send(_ text: String)

    /// Closes with a code and a reason (RFC 6455, 7.1.2); before the socket is open, gives the attempt up.
    ///
    /// The socket waits a short while for the peer's close frame, then ends by itself.
    func close(code: UInt16, reason: String)

    /// Stops (`false`) or resumes (`true`) reading, so that TCP makes the server wait.
    func setReading(_ reading: Bool)
}

/// Hears what a ``WebSocket`` reports.
public protocol WebSocketDelegate: AnyObject, Sendable {
    /// The upgrade succeeded.
    func webSocketDidOpen(attempt: ConnectionAttempt)

    /// Messages arrived: all that one read brought. The bytes are valid only during the call.
    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt)

    /// A control frame arrived: a sign of life (a ping was answered by the socket already).
    func webSocketDidReceiveControlFrame(attempt: ConnectionAttempt)

    /// The attempt is over.
    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt)
}

/// What to open.
public struct WebSocketRequest: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Whether to use TLS (`wss`).
    public var secure: Bool
    /// Host name or address, without brackets.
    public var host: String
    /// TCP port.
    public var port: Int
    /// Path and query, percent-encoded, beginning with `/`.
    public var path: String
    /// Header fields added to the upgrade request.
    public var headers: [String: String]
    /// How to secure the connection, if ``secure``.
    public var tls: TLSConfiguration
    /// The way there.
    public var proxy: ProxyConfiguration
    /// The largest message to take, in bytes; a larger one ends the connection with close code 1009.
    public var maximumMessageSize: Int
    /// How many redirects to follow, one after the other.
    public var maximumRedirects: Int

    /// Creates a request; custom sockets receive one, only tests make them.
    public init(
        secure: Bool, host: String, port: Int, path: String, headers: [String: String] = [:],
        tls: TLSConfiguration = TLSConfiguration(), proxy: ProxyConfiguration = .environment,
        maximumMessageSize: Int = 16 << 20, maximumRedirects: Int = 0
    ) {
        self.secure = secure
        self.host = host
        self.port = port
        self.path = path
        self.headers = headers
        self.tls = tls
        self.proxy = proxy
        self.maximumMessageSize = maximumMessageSize
        self.maximumRedirects = maximumRedirects
    }

    /// The address.
    public var description: String { url }

    /// All but the values of the headers, which may be secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": url, "headers": headers.keys.sorted(), "tls": tls, "proxy": proxy,
                "maximumMessageSize": maximumMessageSize, "maximumRedirects": maximumRedirects,
            ])
    }

    /// The request as a `ws` or `wss` address.
    public var url: String {
        "\(secure ? "wss" : "ws")://\(endpointName(host: host, port: port))\(path)"
    }
}

/// The messages that one read brought, in order, borrowed for the length of a delegate call.
public struct MessageBatch: ~Copyable {
    /// A message's kind as its frame's opcode gave it.
    public enum Kind: Equatable, Sendable {
        /// UTF-8 text, what the Channels protocol uses.
        case text
        /// Binary, which protocol 7 doesn't use.
        case binary
    }

    private let messages: UnsafeBufferPointer<(Kind, UnsafeRawBufferPointer)>

    /// Wraps messages whose memory the caller keeps for as long as the batch is used.
    public init(_ messages: UnsafeBufferPointer<(Kind, UnsafeRawBufferPointer)>) {
        self.messages = messages
    }

    /// How many messages there are.
    public var count: Int { messages.count }

    /// Calls `body` with each message's kind and bytes; the bytes must not be kept.
    public borrowing func forEach<Failure: Error>(
        _ body: (Kind, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        for index in 0..<messages.count {
            try body(messages[index].0, messages[index].1)
        }
    }

    /// Calls `body` with a batch of one text message; for test doubles and custom sockets that hold strings.
    public static func withText<Result>(_ text: String, _ body: (borrowing MessageBatch) -> Result) -> Result {
        var text = text
        return text.withUTF8 { utf8 in withText(UnsafeRawBufferPointer(utf8), body) }
    }

    /// The same of bytes, which may be no UTF-8.
    package static func withText<Result>(_ bytes: [UInt8], _ body: (borrowing MessageBatch) -> Result) -> Result {
        bytes.withUnsafeBytes { withText($0, body) }
    }

    private static func withText<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (borrowing MessageBatch) -> Result
    ) -> Result {
        withUnsafePointer(to: (Kind.text, bytes)) { message in
            body(MessageBatch(UnsafeBufferPointer(start: message, count: 1)))
        }
    }
}
