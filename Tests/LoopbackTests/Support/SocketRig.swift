#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// A socket with the delegate that records its events.
struct SocketRig: Sendable {
    let socket: NetworkWebSocket
    let events: SocketEvents

    init(
        socket: NetworkWebSocket = NetworkWebSocket(loop: .patient),
        reaction: @escaping @Sendable (SocketEvent) -> Void = { _ in }
    ) {
        self.socket = socket
        events = SocketEvents(reaction: reaction)
        socket.delegate = events
        // A socket closes when it is deallocated, so its events, for which somebody may still wait, keep it alive.
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

/// Runs `body` with a socket that is connected to a server, and ends it rather than wait for ever.
func withSocket(
    to server: RawServer, _ rig: SocketRig = SocketRig(), _ body: @escaping @Sendable (SocketRig) async throws -> Void
) async throws {
    try await withWatchdog {
        rig.open(port: server.port)
        #expect(await rig.events.next() == .opened(first))
        try await body(rig)
    }
    withExtendedLifetime(server) {}
}

extension NetworkTimeouts {
    /// Time-outs for tests that aren't about time-outs: none expires before the test ends, however long a busy machine takes.
    static let long = NetworkTimeouts(stage: .seconds(86_400), address: .seconds(86_400), addresses: .seconds(86_400))
}

extension NetworkLoop {
    convenience init(timeouts: NetworkTimeouts, startThread: @escaping SystemThread.Starter = SystemThread.start) {
        self.init(environment: NetworkEnvironment(timeouts: timeouts, startThread: startThread))
    }

    /// The loop for tests that don't need their own.
    static let patient = NetworkLoop(timeouts: .long)
}

/// Returns after a loop's thread has gone through a turn.
func serviceTurn(of loop: NetworkLoop = .patient) async {
    await withCheckedContinuation { continuation in
        loop.post { _ in continuation.resume() }
    }
}

/// Blocks the calling thread until a loop's thread has gone through a turn.
func waitForServiceTurn(of loop: NetworkLoop) {
    let turn = DispatchSemaphore(value: 0)
    loop.post { _ in turn.signal() }
    // A loop that was shut down doesn't signal.
    _ = turn.wait(timeout: .now() + .seconds(Patience.seconds))
}

extension WebSocketRequest {
    /// Returns a request to a server on this machine that accepts any certificate.
    static func toLoopback(port: Int, secure: Bool) -> WebSocketRequest {
        WebSocketRequest(
            secure: secure, host: "127.0.0.1", port: port, path: "/",
            tls: TLSConfiguration(verification: .insecureAcceptAnyCertificate))
    }
}

let first = ConnectionAttempt(1)
let second = ConnectionAttempt(2)
#endif
