#if Metrics || Tracing
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
