/// The findings of sockets at a test's end, each once, also when they have gone.
struct SocketFindings: Sendable {
    private var sockets: [(identity: ObjectIdentifier, findings: @Sendable () -> [Finding])] = []

    mutating func add(_ socket: MockWebSocket) {
        if !contains(socket) { sockets.append((socket.identity, socket.lastingFindings)) }
    }

    func contains(_ socket: MockWebSocket) -> Bool { sockets.contains { $0.identity == socket.identity } }

    var all: [Finding] { sockets.flatMap { $0.findings() } }
}
