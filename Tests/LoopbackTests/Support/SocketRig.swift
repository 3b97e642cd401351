#if os(Linux)
import Dispatch
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

/// Returns after a loop's thread has gone through a turn.
func serviceTurn(of loop: LibwebsocketsLoop = .shared) async {
    await withCheckedContinuation { continuation in
        loop.post { _ in continuation.resume() }
    }
}

/// The same for a thread that may block.
func waitForServiceTurn(of loop: LibwebsocketsLoop) {
    let turn = DispatchSemaphore(value: 0)
    loop.post { _ in turn.signal() }
    // Nothing comes of a loop that was shut down.
    _ = turn.wait(timeout: .now() + 10)
}

extension WebSocketRequest {
    /// A request to a server of this machine, whoever vouches for it.
    static func toLoopback(port: Int, secure: Bool) -> WebSocketRequest {
        WebSocketRequest(
            secure: secure, host: "127.0.0.1", port: port, path: "/",
            tls: TLSConfiguration(verification: .insecureAcceptAnyCertificate))
    }
}

let first = ConnectionAttempt(1)
let second = ConnectionAttempt(2)
#endif
