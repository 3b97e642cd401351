/// The latest client events that were sent on this connection. The server numbers them and doesn't send them back, but its history has
/// them.
struct OwnEvents: Equatable, Sendable {
    /// The size of the events that are remembered, in bytes: servers take hardly larger ones.
    private static let largest = 16 << 10

    private var events: [Envelope] = []

    var isEmpty: Bool { events.isEmpty }

    mutating func remember(_ event: Envelope) {
        if event.size <= Self.largest { events = (events + [event]).suffix(16) }
    }

    /// Returns whether an event of the history is one of them, once.
    mutating func take(_ envelope: Envelope) -> Bool {
        // The server may write the same data in another way.
        let index = events.firstIndex { $0.event == envelope.event && $0.payload == envelope.payload }
        return index.map { events.remove(at: $0) } != nil
    }
}
