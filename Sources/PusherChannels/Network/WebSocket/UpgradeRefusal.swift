/// The reason why a response to the upgrade opens no WebSocket (RFC 6455, 4.1).
enum UpgradeRefusal: Error, Equatable, Sendable {
    /// A status other than 101.
    case status(Int)
    /// `Upgrade` doesn't name websocket.
    case noUpgrade
    /// `Connection` doesn't name upgrade.
    case noConnectionUpgrade
    /// `Sec-WebSocket-Accept` is missing or belongs to another key: the response isn't from a WebSocket server, or comes from a
    /// cache.
    case wrongAccept
    /// A field that announces a body.
    case body(String)
    /// An extension; none was asked for.
    case unwantedExtension(String)
    /// A subprotocol that was not asked for.
    case unwantedSubprotocol(String)

    /// Returns the failure to report to the socket's owner, for the server at `endpoint`.
    func failure(endpoint: String) -> TransportError {
        switch self {
        case .status(let status):
            let hint = (300..<400).contains(status) ? " (a redirect that is not followed)" : ""
            return TransportError(
                .upgradeRefused(status: status), "\(endpoint) answered the WebSocket upgrade with HTTP \(status)\(hint)")
        default:
            return TransportError(.protocolViolation, "\(endpoint) doesn't answer like a WebSocket server: \(problem)")
        }
    }

    private var problem: String {
        switch self {
        case .status(let status): "HTTP \(status)"
        case .noUpgrade: "no \"Upgrade: websocket\" in its answer"
        case .noConnectionUpgrade: "no \"Connection: Upgrade\" in its answer (a proxy may have dropped it)"
        case .wrongAccept: "its Sec-WebSocket-Accept doesn't belong to this request"
        case .body(let field): "\(field) in its answer"
        case .unwantedExtension(let name): "it uses the extension \(quoted(name)), which wasn't asked for"
        case .unwantedSubprotocol(let name): "it chose the subprotocol \(quoted(name)), which wasn't asked for"
        }
    }

    /// Returns a server's text in a form that fits into a line of a log.
    private func quoted(_ text: String) -> String { String(text.withoutSecretsOfAddresses.prefix(100)).debugDescription }
}
