import PusherChannels

/// The events that are still to be reported to backends, in batches. Departures are held back for a while, because a user who
/// comes back soon hasn't left.
struct WebhookQueue: Sendable {
    /// The events of one webhook.
    struct Batch: Equatable {
        let appKey: String
        var events: [WebhookEvent]
    }

    /// Identifies one departure in an app: of a channel or of one of its members.
    private struct Departure: Hashable {
        let appKey: Name
        let event: WebhookEvent
    }

    /// The time for which a departure is held back.
    let departureDelay: Duration
    /// The time for which a batch waits for more events, from its first one on.
    let window: Duration
    /// The number of events at which a batch waits no longer.
    let maximumLength: Int

    /// The departures that haven't been cancelled, and when each is due.
    private var departures: [Departure: Instant] = [:]
    /// All departures in the order in which they are due, including cancelled ones.
    private var order = Deque<(departure: Departure, due: Instant)>()
    private var open: [Name: (batch: Batch, due: Instant)] = [:]

    init(departureDelay: Duration, window: Duration, maximumLength: Int) {
        self.departureDelay = departureDelay
        self.window = window
        self.maximumLength = maximumLength
    }

    /// The time at which ``takeDue(at:)`` has something to return; `nil` if nothing waits.
    var deadline: Instant? {
        (open.values.map(\.due) + [order.first?.due].compactMap { $0 }).min()
    }

    /// Adds an event, and returns the batch if that is now full.
    mutating func add(_ event: WebhookEvent, of appKey: String, at now: Instant) -> Batch? {
        if event.isDeparture, departureDelay > .zero {
            let departure = Departure(appKey: Name(appKey), event: event)
            departures[departure] = now + departureDelay
            order.append((departure, now + departureDelay))
            return nil
        }
        if let departure = event.departureTakenBack,
            departures.removeValue(forKey: Departure(appKey: Name(appKey), event: departure)) != nil
        {
            return nil
        }
        return put(event, of: appKey, at: now)
    }

    /// Returns the batches that have waited long enough.
    mutating func takeDue(at now: Instant) -> [Batch] {
        var due: [Batch] = []
        while let (departure, time) = order.first, time <= now {
            order.popFirst()
            guard departures[departure] == time else { continue }
            departures[departure] = nil
            if let full = put(departure.event, of: departure.appKey.text, at: time) { due.append(full) }
        }
        for (appKey, entry) in open.sorted(by: { $0.key < $1.key }) where entry.due <= now {
            open[appKey] = nil
            due.append(entry.batch)
        }
        return due
    }

    private mutating func put(_ event: WebhookEvent, of appKey: String, at now: Instant) -> Batch? {
        var entry = open[appKey] ?? (Batch(appKey: appKey, events: []), now + window)
        entry.batch.events.append(event)
        guard entry.batch.events.count >= maximumLength else {
            open[appKey] = entry
            return nil
        }
        open[appKey] = nil
        return entry.batch
    }
}
