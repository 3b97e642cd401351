#if canImport(CLibwebsockets)
import Glibc

/// How far a connection has come before it is open.
enum OpeningStage {
    case resolving, connecting
    case tunnelling(ProxyTunnel)
    case securing
    case upgrading(UpgradeHandshake, AnswerReader)

    /// How long each may take.
    static let timeout = Duration.seconds(20)
    /// How long an address may take to accept if there is another to try.
    static let addressTimeout = Duration.seconds(5)

    /// What it means that the stream ended here.
    func failure(_ end: StreamEnd, endpoint: String, proxy: HTTPProxy?) -> WebSocketFailure {
        if case .untrusted(let trouble) = end {
            // With TLS 1.3 a server refuses a client's certificate only after the handshake.
            return WebSocketFailure(.tlsFailed(trouble.failure), "TLS with \(endpoint) failed: \(trouble.reason)")
        }
        let reason = end.reason.map { ": \($0)" } ?? ""
        switch self {
        case .tunnelling:
            let name = proxy.map { "\($0)" } ?? ""
            return WebSocketFailure(
                .connectionLost, "The proxy \(name) hung up before it answered the request for a tunnel to \(endpoint)\(reason)")
        case .securing:
            return WebSocketFailure(
                .tlsFailed(.handshakeFailed), "TLS with \(endpoint) failed: it hung up, or doesn't speak TLS\(reason)")
        case .resolving, .connecting, .upgrading:
            return WebSocketFailure(.connectionLost, "\(endpoint) hung up before it answered the WebSocket upgrade\(reason)")
        }
    }

    /// What it means that the time was over here.
    func timeout(endpoint: String, proxy: HTTPProxy?, address: String) -> WebSocketFailure {
        let nearEnd = proxy.map { "The proxy \($0)" } ?? endpoint
        let text =
            switch self {
            case .resolving: "No address was found for \(proxy.map { $0.host } ?? endpoint)"
            case .connecting: "\(nearEnd) didn't accept the connection (address \(address))"
            case .tunnelling: "\(nearEnd) didn't answer the request for a tunnel to \(endpoint)"
            case .securing: "\(endpoint) didn't finish the TLS handshake"
            case .upgrading: "\(endpoint) didn't answer the WebSocket upgrade"
            }
        return WebSocketFailure(.timedOut, "\(text) within \(Self.timeout.components.seconds) s")
    }
}

/// Which addresses were tried, and why each was no good.
struct AddressRefusals {
    private var refusals: [(address: String, error: SystemError)] = []

    mutating func add(_ address: String, _ error: SystemError) {
        refusals.append((address, error))
    }

    /// The one report of all of them; its kind is that of the last.
    func failure(endpoint: String) -> WebSocketFailure {
        let list = refusals.map { "\($0.error.text) (address \($0.address))" }.joined(separator: ", ")
        let kind: WebSocketFailure.Kind =
            switch refusals.last?.error.number {
            case ECONNREFUSED: .connectionRefused
            case ETIMEDOUT: .timedOut
            default: .unreachable
            }
        return WebSocketFailure(kind, "No connection to \(endpoint): \(list)")
    }
}

extension SystemError {
    /// The other end took too long.
    static let timedOut = SystemError(number: ETIMEDOUT)
}
#endif
