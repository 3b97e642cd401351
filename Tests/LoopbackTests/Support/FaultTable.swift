#if os(Linux)
import PusherChannels
import TestSupport

/// The report of a client's socket about one attempt against a server that replies to pings.
struct SocketOutcome: Equatable, Sendable, CustomStringConvertible {
    /// Indicates whether the upgrade succeeded.
    var isOpened = false
    /// The number of messages received.
    var messages = 0
    /// The end of the attempt; `nil` if the client closed the connection after it had received everything it expected.
    var end: End?

    enum End: Equatable, Sendable {
        case closed(code: UInt16)
        case failed(TransportError.Kind)

        init(_ closure: WebSocketClosure) {
            self =
                switch closure {
                case .closed(let code, _): .closed(code: code)
                case .failed(let failure): .failed(failure.kind)
                }
        }
    }

    var description: String {
        "\(isOpened ? "opened" : "never opened"), \(messages) messages, \(end.map { "\($0)" } ?? "open to the end")"
    }
}

/// The faults that exist both in memory and on a socket, with the outcome that they have at both.
enum FaultTable {
    /// The number of pings that the client sends. Without a fault, it receives the greeting and a reply to each ping.
    static let pings = 4
    static let whole = 1 + pings

    static let rows: [(fault: Fault, outcome: SocketOutcome)] =
        [
            (.refused, SocketOutcome(end: .failed(.connectionRefused))),
            (.upgradeRefused(status: 401), SocketOutcome(end: .failed(.upgradeRefused(status: 401)))),
            (.upgradeRefused(status: 503), SocketOutcome(end: .failed(.upgradeRefused(status: 503)))),
            (.wrongAcceptKey, SocketOutcome(end: .failed(.protocolViolation))),
            (.reset, SocketOutcome(end: .failed(.connectionLost))),
            (.halfClose, SocketOutcome(end: .failed(.connectionLost))),
            (.stall, SocketOutcome()),
        ]
        + [0, 1, 3].flatMap { frames -> [(Fault, SocketOutcome)] in
            [
                (.reset(after: .frames(frames)), lost(after: frames)),
                (.halfClose(after: .frames(frames)), lost(after: frames)),
                (.stall(after: .frames(frames)), SocketOutcome(isOpened: true, messages: frames)),
            ]
        }
        + (Fault.MalformedFrame.allCases.map { .malformedFrame($0) } + [.badUTF8]).map { fault in
            (fault, SocketOutcome(isOpened: true, messages: 1, end: .failed(.protocolViolation)))
        }
        + [
            (.latency(.milliseconds(5)), SocketOutcome(isOpened: true, messages: whole)),
            (.bandwidth(bytesPerSecond: 20_000), SocketOutcome(isOpened: true, messages: whole)),
        ]

    private static func lost(after messages: Int) -> SocketOutcome {
        SocketOutcome(isOpened: true, messages: messages, end: .failed(.connectionLost))
    }

    /// Opens a socket, sends pings, and returns the outcome.
    ///
    /// - Parameters:
    ///   - expected: The outcome to wait for before the client closes, if the connection doesn't end by itself.
    ///   - settle: The closure to call before the client closes a connection that was never opened.
    static func outcome(
        of socket: any WebSocket, port: Int, expecting expected: SocketOutcome, settle: () async -> Void = {}
    ) async -> SocketOutcome {
        let events = SocketEvents()
        socket.delegate = events
        socket.open(
            WebSocketRequest(secure: false, host: "127.0.0.1", port: port, path: "/app/local-key?protocol=7"),
            attempt: ConnectionAttempt(1))
        var outcome = SocketOutcome()
        var isClosing = false
        while !Task.isCancelled {
            if !isClosing, expected.end == nil, outcome == expected {
                isClosing = true
                if !outcome.isOpened { await settle() }
                socket.close(code: 1000, reason: "")
            }
            switch await events.next() {
            case .opened:
                outcome.isOpened = true
                for _ in 0..<pings { socket.send(#"{"event":"pusher:ping","data":{}}"#) }
            case .text, .binary:
                outcome.messages += 1
            case .controlFrame, nil:
                break
            case .closed(let closure, _):
                if !isClosing { outcome.end = SocketOutcome.End(closure) }
                return outcome
            }
        }
        return outcome
    }
}
#endif
