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

    init(socket: NetworkWebSocket, reaction: @escaping @Sendable (SocketEvent) -> Void = { _ in }) {
        self.socket = socket
        events = SocketEvents(reaction: reaction)
        socket.delegate = events
        // A socket closes when it is deallocated, so its events, for which somebody may still wait, keep it alive.
        events.keep(socket)
    }

    init(
        on loop: NetworkLoop = .patient, reaction: @escaping @Sendable (SocketEvent) -> Void = { _ in },
        resolve: @escaping AddressResolver.Resolve = { AddressResolver.shared.resolve($0, completion: $1) }
    ) {
        self.init(socket: NetworkWebSocket(loop: loop, resolve: resolve), reaction: reaction)
    }

    /// Creates a rig that uses its own socket from within the report of an event.
    init(on loop: NetworkLoop, reacting: @escaping @Sendable (NetworkWebSocket, SocketEvent) -> Void) {
        let socket = NetworkWebSocket(loop: loop)
        self.init(socket: socket) { [weak socket] event in
            if let socket { reacting(socket, event) }
        }
    }

    func open(
        port: Int, host: String = "127.0.0.1", secure: Bool = false, path: String = "/", headers: [String: String] = [:],
        attempt: Int = 1
    ) {
        let request = WebSocketRequest(secure: secure, host: host, port: port, path: path, headers: headers)
        socket.open(request, attempt: ConnectionAttempt(attempt))
    }

    /// Connects to a server, whose certificate isn't verified.
    func connect(to server: RawServer, secure: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) async {
        socket.open(.toLoopback(port: server.port, secure: secure), attempt: first)
        #expect(await events.next() == .opened(first), sourceLocation: sourceLocation)
    }

    /// Returns whether nothing was reported that the test hasn't taken: the next report is that of another attempt.
    func isSilent() async -> Bool {
        socket.open(WebSocketRequest(secure: false, host: "", port: 1, path: "/"), attempt: second)
        guard case .closed(_, second) = await events.next() else { return false }
        return true
    }
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
