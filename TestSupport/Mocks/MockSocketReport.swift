import PusherChannels

/// A call that a socket's delegate is going to receive.
enum MockSocketReport {
    case opened(ConnectionAttempt)
    case message([UInt8], ConnectionAttempt)
    case controlFrame(ConnectionAttempt)
    case closed(WebSocketClosure, ConnectionAttempt)

    /// Indicates whether the socket would have read this from the connection.
    var isInbound: Bool {
        if case .opened = self { false } else { true }
    }

    /// Indicates whether a client that closes would leave this unread.
    var isUnread: Bool {
        switch self {
        case .message, .controlFrame: true
        case .opened, .closed: false
        }
    }

    /// The kind of the report, for a timeline.
    var kind: String {
        switch self {
        case .opened: "opened"
        case .message, .controlFrame: "received"
        case .closed: "closed"
        }
    }

    /// The text of the report, for a timeline.
    var text: String {
        switch self {
        case .opened(let attempt): "\(attempt)"
        case .message(let text, _): String(decoding: text, as: UTF8.self)
        case .controlFrame: "control frame"
        case .closed(let closure, _): "\(closure)"
        }
    }

    /// The number of bytes in the server's frame: two, four or ten, and the payload.
    var byteCount: Int {
        switch self {
        case .message(let text, _): text.count + (text.count < 126 ? 2 : text.count < 65_536 ? 4 : 10)
        case .controlFrame: 2
        case .opened, .closed: 0
        }
    }

    func deliver(to delegate: (any WebSocketDelegate)?) {
        switch self {
        case .opened(let attempt):
            delegate?.webSocketDidOpen(attempt: attempt)
        case .message(let text, let attempt):
            MessageBatch.withText(text) { delegate?.webSocketDidReceive($0, attempt: attempt) }
        case .controlFrame(let attempt):
            delegate?.webSocketDidReceive(.controlFrames(), attempt: attempt)
        case .closed(let closure, let attempt):
            delegate?.webSocketDidClose(closure, attempt: attempt)
        }
    }
}

/// The findings of sockets at a test's end: once for each socket, even after it is deallocated.
struct SocketFindings: Sendable {
    /// The findings of one socket.
    struct Socket {
        let findings: [Finding]
        /// The finding that its connection is still open.
        let open: Finding?
        /// The socket's name in reports.
        let name: String
        /// The requests with which it was opened.
        let requests: [WebSocketRequest]

        var all: [Finding] { findings + [open].compactMap(\.self) }
    }

    private var sockets: [(identity: ObjectIdentifier, lasting: @Sendable () -> Socket)] = []

    mutating func add(_ socket: MockWebSocket) {
        if !contains(socket) { sockets.append((socket.identity, socket.lasting)) }
    }

    func contains(_ socket: MockWebSocket) -> Bool { sockets.contains { $0.identity == socket.identity } }

    var all: [(identity: ObjectIdentifier, socket: Socket)] { sockets.map { ($0.identity, $0.lasting()) } }
}
