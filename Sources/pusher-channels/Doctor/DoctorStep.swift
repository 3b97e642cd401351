import PusherChannels

/// A step from the command line to a subscribed channel, in the order in which they are taken.
enum DoctorStep: String, CaseIterable, Sendable {
    /// The options, and the files and variables that they name.
    case options
    /// The look-up of the first host's name: the proxy's, or the server's.
    case name
    /// A way to an address of that name.
    case address
    case tcp
    case proxy
    case tls
    case upgrade
    /// The server's `pusher:connection_established`.
    case `protocol`
    case authorization
    case subscription

    /// The step that failed with an error; those before it went well.
    init(failedWith error: PusherError) {
        switch error.kind {
        case .transport(let kind): self.init(failedWith: kind, message: error.message)
        case .invalidRequest: self = .options
        case .authorization: self = .authorization
        case .subscriptionRefused: self = .subscription
        case .timedOut where error.message.hasPrefix("no authorization"): self = .authorization
        case .timedOut where error.message.contains("answer the subscription"): self = .subscription
        case .server, .timedOut, .malformedMessage, .readerTooSlow, .rateLimited, .httpAPI, .attemptsExhausted: self = .protocol
        }
    }

    /// The step of a socket that failed. Where a kind doesn't tell, the message does, in words that the page "When connecting fails"
    /// has of it.
    private init(failedWith kind: WebSocketFailure.Kind, message: String) {
        switch kind {
        case .tlsFailed(.invalidConfiguration), .unsupported: self = .options
        case .hostNotFound: self = .name
        case .unreachable: self = .address
        case .connectionRefused: self = .tcp
        case .proxyRefused: self = .proxy
        case .tlsFailed: self = .tls
        case .upgradeRefused: self = .upgrade
        case .timedOut, .protocolViolation, .connectionLost, .cancelled:
            if message.hasPrefix("No address was found") {
                self = .name
            } else if message.contains("accept the connection") {
                self = .tcp
            } else if message.hasPrefix("Proxy ") {
                self = .proxy
            } else if message.contains("TLS handshake") {
                self = .tls
            } else if message.contains("WebSocket upgrade") || message.contains("like a WebSocket server") {
                self = .upgrade
            } else {
                self = .protocol
            }
        }
    }
}
