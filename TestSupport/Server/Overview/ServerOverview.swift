import PusherChannels

/// A snapshot of a server for an observer. Its size is limited, however many clients there are and whatever they send. Omissions
/// are counted. It contains no secrets.
package struct ServerOverview: Encodable, Sendable {
    /// The first items of a longer list.
    struct List<Item: Encodable & Sendable>: Encodable, Sendable {
        let total: Int
        let items: [Item]
    }

    struct Connection: Encodable, Sendable {
        let number: Int
        let app: Excerpt
        let socketID: String
        /// The user that was signed in.
        let user: Excerpt?
        let channels: List<Excerpt>
    }

    struct Channel: Encodable, Sendable {
        let app: Excerpt
        let name: Excerpt
        let subscribers: Int
        /// The users on a presence channel; `nil` elsewhere.
        let members: List<Excerpt>?
    }

    struct Event: Encodable, Sendable {
        let number: Int
        /// The time since the event, in milliseconds.
        let age: Int
        let app: Excerpt
        let channel: Excerpt
        let name: Excerpt
        let data: Excerpt
        /// The number of the connection that sent it; `nil` for the app's backend.
        let sender: Int?
        let receivers: Int
    }

    /// The keys of the apps.
    let apps: List<Excerpt>
    /// The connections, the newest first.
    let connections: List<Connection>
    /// The channels, sorted by name.
    let channels: List<Channel>
    /// The events, the newest first.
    let events: List<Event>
}

extension ServerMachine {
    /// Starts keeping the machine's latest events for ``overview(at:)``.
    package mutating func recordEvents() {
        recentEvents = RecentEvents()
    }

    /// Returns a snapshot for an observer.
    package func overview(at now: Instant) -> ServerOverview {
        ServerOverview(
            apps: list(apps.map(\.key).prefix(20), of: apps.count),
            connections: ServerOverview.List(
                total: connections.count,
                items: connections.first(50) { $0.key > $1.key }.map { overview(of: $0.value, $0.key) }),
            channels: ServerOverview.List(
                total: channels.count,
                items: channels.first(100) { ($0.key.name, $0.key.appKey) < ($1.key.name, $1.key.appKey) }
                    .map { overview(of: $0.value, $0.key) }),
            events: ServerOverview.List(
                total: recentEvents?.total ?? 0,
                items: recentEvents?.events.reversed().map { overview(of: $0, at: now) } ?? []))
    }

    private func list(_ shown: some Sequence<String>, of total: Int) -> ServerOverview.List<Excerpt> {
        ServerOverview.List(total: total, items: shown.map { Excerpt(name: $0) })
    }

    private func overview(of connection: Connection, _ id: ConnectionID) -> ServerOverview.Connection {
        let channels = connection.subscriptions.keys
        return ServerOverview.Connection(
            number: id.number, app: Excerpt(name: connection.app.key), socketID: connection.socketID,
            user: connection.user.map { Excerpt(name: $0.id.text) },
            channels: list(channels.first(5, by: <).map(\.text), of: channels.count))
    }

    private func overview(of channel: ServerChannel, _ key: ChannelKey) -> ServerOverview.Channel {
        ServerOverview.Channel(
            app: Excerpt(name: key.appKey.text), name: Excerpt(name: key.name.text), subscribers: channel.subscribers.count,
            members: ChannelName(key.name).kind == .presence
                ? list(channel.memberIDs.prefix(10).map(\.text), of: channel.memberIDs.count) : nil)
    }

    private func overview(of event: RecentEvents.Event, at now: Instant) -> ServerOverview.Event {
        let (seconds, attoseconds) = max(.zero, now - event.time).components
        return ServerOverview.Event(
            number: event.number, age: Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000),
            app: Excerpt(name: event.appKey), channel: event.channel, name: event.name, data: event.data,
            sender: event.sender?.number, receivers: event.receivers)
    }
}

extension Sequence {
    /// Returns the first elements in sorted order, without sorting the others.
    fileprivate func first(_ limit: Int, by precedes: (Element, Element) -> Bool) -> [Element] {
        var found: [Element] = []
        for element in self {
            if found.count == limit, let last = found.last, !precedes(element, last) { continue }
            found.insert(element, at: found.firstIndex { precedes(element, $0) } ?? found.count)
            if found.count > limit { found.removeLast() }
        }
        return found
    }
}
