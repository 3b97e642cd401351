#if os(Linux)
@testable import PusherChannels

/// A socket with the delegate that hears it.
struct SocketRig: Sendable {
    let socket: LibwebsocketsSocket
    let events: SocketEvents

    init(
        socket: LibwebsocketsSocket = LibwebsocketsSocket(), reaction: @escaping @Sendable (SocketEvent) -> Void = { _ in }
    ) {
        self.socket = socket
        events = SocketEvents(reaction: reaction)
        socket.delegate = events
        // A socket that is let go closes: whoever still waits for events needs it.
        events.keep(socket)
    }

    func open(
        port: Int, host: String = "127.0.0.1", secure: Bool = false, path: String = "/", headers: [String: String] = [:],
        attempt: Int = 1
    ) {
        let request = WebSocketRequest(secure: secure, host: host, port: port, path: path, headers: headers)
        socket.open(request, attempt: ConnectionAttempt(attempt))
    }
}

/// Returns after the service thread has gone through a turn.
func serviceTurn() async {
    await withCheckedContinuation { continuation in
        LibwebsocketsLoop.shared.post { _ in continuation.resume() }
    }
}

let first = ConnectionAttempt(1)
let second = ConnectionAttempt(2)
#endif
