import PusherChannels

/// A server's latest events, for an observer. The number of events and the length of each text are limited, whatever clients
/// send.
struct RecentEvents: Sendable {
    struct Event: Sendable {
        let number: Int
        let time: Instant
        let appKey: String
        let channel: Excerpt
        let name: Excerpt
        let data: Excerpt
        /// The connection that sent the event to the others; `nil` for the app's backend.
        let sender: ServerMachine.ConnectionID?
        let receivers: Int
    }

    private static let limit = 30
    private static let dataLimit = 500

    /// The events in the order of their arrival.
    private(set) var events: [Event] = []
    /// The number of all events so far.
    private(set) var total = 0

    mutating func record(
        _ name: String, on channel: String, data: String, appKey: String, from sender: ServerMachine.ConnectionID?,
        receivers: Int,
        at time: Instant
    ) {
        total += 1
        if events.count == Self.limit { events.removeFirst() }
        events.append(
            Event(
                number: total, time: time, appKey: appKey, channel: Excerpt(name: channel), name: Excerpt(name: name),
                data: Excerpt(data, upTo: Self.dataLimit), sender: sender, receivers: receivers))
    }
}
