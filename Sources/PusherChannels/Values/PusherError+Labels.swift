#if Metrics || Tracing
/// Labels of errors for metrics, and for the error types of spans. There are only a few, whatever a server says.
extension PusherError.Kind {
    var label: String {
        switch self {
        case .server: "server"
        case .transport(let kind): kind.label
        case .timedOut: "timed_out"
        case .malformedMessage: "malformed_message"
        case .authorization: "authorization"
        case .subscriptionRefused: "subscription_refused"
        case .invalidRequest: "invalid_request"
        case .readerTooSlow: "reader_too_slow"
        case .loadPostponed: "load_postponed"
        case .tooManyClientEvents: "too_many_client_events"
        case .httpAPI: "http_api"
        case .attemptsExhausted: "attempts_exhausted"
        }
    }
}

extension TransportError.Kind {
    var label: String {
        switch self {
        case .hostNotFound: "host_not_found"
        case .connectionRefused: "connection_refused"
        case .unreachable: "unreachable"
        case .noAnswer: "no_answer"
        case .tlsFailed: "tls_failed"
        case .proxyRefused: "proxy_refused"
        case .upgradeRefused: "upgrade_refused"
        case .protocolViolation: "protocol_violation"
        case .connectionLost: "connection_lost"
        case .cancelled: "cancelled"
        case .unsupported: "unsupported"
        }
    }
}
#endif
