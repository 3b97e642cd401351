import PusherChannels

extension ServerMachine {
    /// A connection as a test may ask about it.
    public struct ConnectionInfo: Equatable, Sendable {
        /// The connection.
        public let id: ConnectionID
        /// The key of the app it is connected to.
        public let appKey: String
        /// The socket id that the client was told.
        public let socketID: String
        /// The channels it is subscribed to, sorted.
        public let channels: [String]
    }

    /// The connections that were let in, in the order of their numbers.
    public var openConnections: [ConnectionInfo] {
        connections.sorted { $0.key < $1.key }.map { id, connection in
            ConnectionInfo(
                id: id, appKey: connection.app.key, socketID: connection.socketID,
                channels: connection.subscriptions.keys.sorted())
        }
    }

    /// The connections subscribed to a channel, in the order of their numbers; of every app unless one is named.
    public func subscribers(of channel: String, appKey: String? = nil) -> [ConnectionID] {
        keys(of: channel, appKey: appKey).flatMap { channels[$0]?.subscribers ?? [] }.sorted()
    }

    /// The ids of a presence channel's members in the order in which they came; of every app unless one is named.
    public func members(of channel: String, appKey: String? = nil) -> [String] {
        keys(of: channel, appKey: appKey).flatMap { channels[$0]?.memberIDs ?? [] }
    }

    /// Publishes an event as an app's backend does: on an encrypted channel sealed with the key that the app's master key gives.
    ///
    /// An event that the HTTP API would refuse is not sent, nor is one to an encrypted channel in plain text; a notice says why.
    ///
    /// - Parameters:
    ///   - channel: The channel's name.
    ///   - event: The event's name.
    ///   - data: The event's data, usually JSON text; subscribers receive it as a JSON string.
    ///   - appKey: The app to publish in; `nil` means every app.
    ///   - socketID: A connection to leave out.
    ///   - effects: Gets the work to do, at its end.
    /// - Returns: The number of connections it is sent to.
    @discardableResult
    public mutating func publish(
        channel: String, event: String, data: String, appKey: String? = nil, excluding socketID: String? = nil,
        into effects: inout [Effect]
    ) -> Int {
        let name = ChannelName(channel)
        var receivers = 0
        do throws(HTTPRefusal) {
            // All that may refuse comes before the first that is sent.
            var ready: [(app: ServerApp, data: String)] = []
            for app in publishers(on: name, appKey: appKey) {
                let data = try seal(data, on: name, of: app)
                try check(Trigger(name: event, data: data, channels: [channel]))
                ready.append((app, data))
            }
            for (app, data) in ready {
                receivers += deliver(event, on: name, data: data, app: app, excluding: socketID, into: &effects)
            }
            effects.append(.notice(.published(channel: channel, event: event, receivers: receivers)))
        } catch {
            effects.append(.notice(.publishRefused(channel: channel, event: event, reason: error.reason)))
        }
        return receivers
    }

    /// Sends what the HTTP API was given on as it is: the caller has encrypted events already.
    mutating func passOn(
        _ event: String, channel: String, data: String, app: ServerApp, excluding socketID: String?,
        into effects: inout [Effect]
    ) {
        let receivers = deliver(
            event, on: ChannelName(channel), data: data, app: app, excluding: socketID, into: &effects)
        effects.append(.notice(.published(channel: channel, event: event, receivers: receivers)))
    }

    private mutating func deliver(
        _ event: String, on channel: ChannelName, data: String, app: ServerApp, excluding socketID: String?,
        into effects: inout [Effect]
    ) -> Int {
        let key = ChannelKey(appKey: app.key, name: channel.text)
        let frame = ServerFrame.event(event, channel: channel.text, data: data)
        if caches(channel) { cache.keep(frame, data: data, for: key, until: now + profile.cacheLifetime, at: now) }
        let receivers = (channels[key]?.subscribers ?? []).filter {
            socketID == nil || connections[$0]?.socketID != socketID
        }
        send(frame, to: receivers, into: &effects)
        recentEvents?.record(
            event, on: channel.text, data: data, appKey: app.key, from: nil, receivers: receivers.count, at: now)
        return receivers.count
    }

    /// The apps that an event is published in: nobody is on an encrypted channel of one without a master key, unless it is the only one.
    private func publishers(on channel: ChannelName, appKey: String?) -> [ServerApp] {
        let named = apps.filter { appKey == nil || $0.key == appKey }
        guard channel.kind == .encrypted else { return named }
        let able = named.filter { $0.sharedSecret(of: channel) != nil }
        return able.isEmpty ? named : able
    }

    /// The data as a backend sends it: what is for an encrypted channel never leaves it in plain text.
    private mutating func seal(
        _ data: String, on channel: ChannelName, of app: ServerApp
    ) throws(HTTPRefusal) -> String {
        guard channel.kind == .encrypted else { return data }
        guard let key = app.sharedSecret(of: channel)?.bytes,
            let encrypted = EncryptedEvent.encrypt(data, with: key, nonce: nonce())
        else { throw HTTPRefusal(status: 400, reason: "\(app) has no master key, and \(channel.text) is encrypted") }
        return encrypted
    }

    /// Drawn from the machine's own generator, so that a seed gives the same events.
    private mutating func nonce() -> [UInt8] {
        (0..<SecretBox.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private func keys(of channel: String, appKey: String?) -> [ChannelKey] {
        apps.map(\.key).filter { appKey == nil || $0 == appKey }.map { ChannelKey(appKey: $0, name: channel) }
    }
}

extension ServerMachine {
    /// Publishes an event for a test; returns how many connections it is sent to, and the finding where it is sent to nobody: not of what
    /// is refused, which is a finding already, nor of what a cache channel keeps.
    mutating func publish(
        channel: String, event: String, data: String, appKey: String?, location: String, into effects: inout [Effect]
    ) -> (receivers: Int, unheard: Finding?) {
        let before = effects.count
        let receivers = publish(channel: channel, event: event, data: data, appKey: appKey, into: &effects)
        let isRefused = effects[before...].contains { if case .notice(.publishRefused) = $0 { true } else { false } }
        let isKept = isRefused || receivers > 0 || ChannelName(channel).isCache
        return (receivers, isKept ? nil : unheard(event, on: channel, location: location))
    }

    /// The finding that an event reached nobody, and what others are subscribed to.
    private func unheard(_ event: String, on channel: String, location: String) -> Finding {
        let others = Set(openConnections.flatMap(\.channels)).sorted()
        let instead =
            others.isEmpty ? "nobody is subscribed to any channel" : "those subscribed to are \(others.joined(separator: ", "))"
        return Finding(.unheard, "\(event) on \(channel), published at \(location), reached nobody; \(instead)")
    }
}
