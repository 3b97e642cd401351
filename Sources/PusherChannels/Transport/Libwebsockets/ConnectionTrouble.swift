#if canImport(CLibwebsockets)

/// How far a connection has come.
enum ConnectionStage {
    case resolving, connecting, securing, upgrading, open
    /// Our close frame is queued or sent.
    case closing(code: UInt16, reason: String)
    /// Nothing more to expect: libwebsockets may still be busy with the socket.
    case ended
}

/// What is known when a connection fails, and the failure to report for it.
struct ConnectionTrouble {
    let endpoint: String
    let address: String
    let stage: ConnectionStage
    /// What libwebsockets said, if it said anything.
    let text: String?
    /// Status of the answer to the upgrade, 0 if none came.
    let status: Int
    let tlsReason: String?
    let hasTimedOut: Bool

    var failure: WebSocketFailure {
        if hasTimedOut { return timeout }
        return switch stage {
        case .resolving, .connecting: unreachable
        case .securing: untrusted
        case .upgrading: refused
        case .open, .closing, .ended:
            WebSocketFailure(.connectionLost, "The connection to \(endpoint) was lost without a close frame")
        }
    }

    private var timeout: WebSocketFailure {
        let missing =
            switch stage {
            case .securing: "finish the TLS handshake"
            case .upgrading: "answer the WebSocket upgrade"
            default: "accept the connection (address \(address))"
            }
        return WebSocketFailure(.timedOut, "\(endpoint) didn't \(missing) within \(LibwebsocketsContext.handshakeTimeout) s")
    }

    /// libwebsockets 4.1 keeps the error number to itself; in nearly all cases it is "connection refused".
    private var unreachable: WebSocketFailure {
        WebSocketFailure(.connectionRefused, "\(endpoint) (address \(address)) refused the connection or can't be reached")
    }

    private var untrusted: WebSocketFailure {
        let reason = tlsReason ?? "the peer ended the handshake, or doesn't speak TLS"
        return WebSocketFailure(.tlsFailed, "TLS with \(endpoint) failed: \(reason)")
    }

    private var refused: WebSocketFailure {
        if status != 0, status != 101 {
            let hint = (300..<400).contains(status) ? " (redirects are not followed)" : ""
            return WebSocketFailure(
                .upgradeRefused(status: status), "\(endpoint) answered the WebSocket upgrade with HTTP \(status)\(hint)")
        }
        switch text {
        case nil, "read failed", "Peer hung up", "closed before established", "Closed before conn":
            // With TLS 1.3 a refused client certificate shows only here, after the handshake.
            let reason = tlsReason.map { ": \($0)" } ?? ""
            return WebSocketFailure(.connectionLost, "\(endpoint) hung up before it answered the WebSocket upgrade\(reason)")
        case let text?:
            return WebSocketFailure(.protocolViolation, "\(endpoint) doesn't answer like a WebSocket server: \(text)")
        }
    }
}
#endif
