import PusherChannels

/// A snapshot of a server for an observer. Its size is limited, however many clients there are and whatever they send. Omissions
/// are counted. It contains no secrets.
package struct ServerOverview: Encodable, Sendable {
    /// What an observer looks at.
    package struct View: Sendable {
        /// The part of a list: what matches a text, from a position on.
        package struct Part: Sendable {
            var search: String
            var start: Int

            package init(search: String = "", start: Int = 0) {
                self.search = search
                self.start = start
            }
        }

        /// The number of the last log entry that the observer has.
        var lastEntry: Int
        var channels: Part
        /// Indicates whether the channels with the most subscribers come first.
        var isBySize: Bool
        var connections: Part

        package init(lastEntry: Int = 0, channels: Part = Part(), isBySize: Bool = false, connections: Part = Part()) {
            self.lastEntry = lastEntry
            self.channels = channels
            self.isBySize = isBySize
            self.connections = connections
        }
    }

    /// The first items of a longer list.
    struct List<Item: Encodable & Sendable>: Encodable, Sendable {
        let total: Int
        let items: [Item]
    }

    /// The part of a longer list that the observer looks at.
    struct Page<Item: Encodable & Sendable>: Encodable, Sendable {
        let total: Int
        /// The number of items that match the search.
        let found: Int
        let start: Int
        let items: [Item]

        init<Key>(_ part: View.Part, of found: [Key], total: Int, limit: Int, item: (Key) -> Item) {
            self.total = total
            self.found = found.count
            // A list that became shorter shows its last page.
            start = max(0, min(part.start, (found.count - 1) / limit * limit))
            items = found[start...].prefix(limit).map(item)
        }
    }

    struct Connection: Encodable, Sendable {
        let number: Int
        let app: Excerpt
        let socketID: String
        /// The user that was signed in, or as whom it is on a presence channel.
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

    /// An entry of the log, as ``Observation`` has it.
    struct Entry: Encodable, Sendable {
        let number: Int
        /// The time since then, in milliseconds.
        let age: Int
        let kind: Observation.Kind
        let app: Excerpt?
        let connection: Int?
        let channel: Excerpt?
        let text: Excerpt?
        let name: Excerpt?
        let data: Excerpt?
        let encryption: Observation.Encryption?
        let receivers: Int?
    }

    /// The keys of the apps.
    let apps: List<Excerpt>
    /// The connections, the newest first.
    let connections: Page<Connection>
    let channels: Page<Channel>
    /// The entries that the observer doesn't have, the newest first.
    let log: List<Entry>
}

extension ServerMachine {
    /// Starts keeping what happens for ``overview(_:at:)``.
    package mutating func recordEvents() {
        observation = Observation(channels: channels.keys)
    }

    /// Returns a snapshot for an observer.
    package func overview(_ view: ServerOverview.View = ServerOverview.View(), at now: Instant) -> ServerOverview {
        let entries = observation?.entries(after: view.lastEntry) ?? []
        return ServerOverview(
            apps: list(apps.map(\.key).prefix(20), of: apps.count),
            connections: ServerOverview.Page(
                view.connections, of: connections(matching: Search(view.connections.search)), total: connections.count, limit: 50
            ) { overview(of: $0, at: Name(view.connections.search)) },
            channels: ServerOverview.Page(
                view.channels, of: channels(matching: Search(view.channels.search), isBySize: view.isBySize),
                total: channels.count, limit: 100
            ) { overview(of: $0) },
            log: ServerOverview.List(total: observation?.total ?? 0, items: entries.map { overview(of: $0, at: now) }))
    }

    private func list(_ shown: some Sequence<String>, of total: Int) -> ServerOverview.List<Excerpt> {
        ServerOverview.List(total: total, items: shown.map { Excerpt(name: $0) })
    }

    /// Returns the channels that have a text in their names, or are those of `connection 3`.
    private func channels(matching search: Search, isBySize: Bool) -> [ChannelKey] {
        var found = observation?.channels ?? []
        if let connection = search.connection.flatMap({ connections[$0] }) {
            found.removeAll { connection.subscriptions[$0.name] == nil || Name(connection.app.key) != $0.appKey }
        } else if !search.isEmpty {
            found.removeAll { !search.matches($0.name) }
        }
        guard isBySize else { return found }
        let sizes = found.map { channels[$0]?.subscribers.count ?? 0 }
        return found.indices.sorted { (sizes[$1], $0) < (sizes[$0], $1) }.map { found[$0] }
    }

    /// Returns the connections that are `connection 3`, are on a channel of this name, or have a text in their users or socket id.
    private func connections(matching search: Search) -> [ConnectionID] {
        let numbers = connections.keys.sorted(by: >)
        guard !search.isEmpty else { return numbers }
        return numbers.filter { id in
            guard let connection = connections[id], search.connection != id else { return search.connection == id }
            return connection.subscriptions[search.name] != nil || search.matches(Name(connection.socketID))
                || (connection.subscriptions.values + [connection.user?.id]).contains { $0.map(search.matches) ?? false }
        }
    }

    private func overview(of id: ConnectionID, at channel: Name) -> ServerOverview.Connection {
        let connection = connections[id]
        let subscriptions = connection?.subscriptions ?? [:]
        let user = connection?.user?.id ?? subscriptions[channel]?.map(\.self) ?? subscriptions.values.compactMap(\.self).min()
        return ServerOverview.Connection(
            number: id.number, app: Excerpt(name: connection?.app.key ?? ""), socketID: connection?.socketID ?? "",
            user: user.map { Excerpt(name: $0.text) },
            channels: list(subscriptions.keys.first(5) { $0.comesBefore($1) }.map(\.text), of: subscriptions.count))
    }

    private func overview(of key: ChannelKey) -> ServerOverview.Channel {
        let members = channels[key]?.memberIDs ?? []
        return ServerOverview.Channel(
            app: Excerpt(name: key.appKey.text), name: Excerpt(name: key.name.text),
            subscribers: channels[key]?.subscribers.count ?? 0,
            members: ChannelName(key.name).kind == .presence ? list(members.prefix(10).map(\.text), of: members.count) : nil)
    }

    private func overview(of entry: Observation.Entry, at now: Instant) -> ServerOverview.Entry {
        let (seconds, attoseconds) = max(.zero, now - entry.time).components
        let data = entry.event.map { event in
            let shown = Excerpt(event.data.text, upTo: 500)
            return Excerpt(text: shown.text, rest: shown.rest + event.data.rest)
        }
        return ServerOverview.Entry(
            number: entry.number, age: Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000), kind: entry.kind,
            app: entry.appKey.map { Excerpt(name: $0) }, connection: entry.connection?.number, channel: entry.channel,
            text: entry.text, name: entry.event?.name, data: data, encryption: entry.event?.encryption,
            receivers: entry.event?.receivers)
    }
}

/// A text that an observer searches for.
private struct Search {
    let name: Name
    private let pattern: [UInt8]
    /// The connection that the text names.
    let connection: ServerMachine.ConnectionID?

    init(_ text: String) {
        name = Name(text)
        pattern = text.utf8.map(Self.folded)
        let words = "connection ".utf8
        connection =
            pattern.starts(with: words)
            ? Int(String(decoding: pattern.dropFirst(words.count), as: UTF8.self)).map { ServerMachine.ConnectionID($0) } : nil
    }

    var isEmpty: Bool { pattern.isEmpty }

    /// Returns whether a name has the text in it, whether its letters of ASCII are large or small.
    func matches(_ name: Name) -> Bool {
        let bytes = name.text.utf8.map(Self.folded)
        guard bytes.count >= pattern.count else { return false }
        return (0...bytes.count - pattern.count).contains { bytes[$0...].starts(with: pattern) }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
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
