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

/// The names of metrics and of the attributes of spans, which the page "In a service" lists.
public struct TelemetryNames: Sendable {
    let isOpenTelemetry: Bool

    /// The SDK's own: `pusher_events_total`, `pusher.channel`.
    public static let pusher = TelemetryNames(isOpenTelemetry: false)
    /// OpenTelemetry's for messaging, version 1.45, where it has one: `messaging.client.consumed.messages`,
    /// `messaging.destination.name`. All others begin with `pusher.` and have no unit: `pusher.connections`.
    public static let openTelemetry = TelemetryNames(isOpenTelemetry: true)

    /// The attribute with a channel's name.
    var channel: String { isOpenTelemetry ? "messaging.destination.name" : "pusher.channel" }

    private static let messaging = [
        "events_total": "messaging.client.consumed.messages", "published_events_total": "messaging.client.sent.messages",
        "publish_seconds": "messaging.client.operation.duration",
    ]

    /// Returns a metric's name.
    func metric(_ label: String) -> String {
        guard isOpenTelemetry else { return "pusher_\(label)" }
        if let name = Self.messaging[label] { return name }
        for unit in ["_total", "_seconds"] where label.hasSuffix(unit) { return "pusher.\(label.dropLast(unit.count))" }
        return "pusher.\(label)"
    }

    /// Returns the labels of a metric of messages.
    func labels(of operation: String, _ labels: [(String, String)]) -> [(String, String)] {
        guard isOpenTelemetry else { return labels }
        return [("messaging.system", "pusher"), ("messaging.operation.name", operation)] + labels
    }
}
#endif
