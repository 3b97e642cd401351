import PusherChannels

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
