import PusherChannels

extension ServerMachine {
    /// Information about a connection, for tests.
    public struct ConnectionInfo: Equatable, Sendable {
        /// The connection.
        public let id: ConnectionID
        /// The key of the app it is connected to.
        public let appKey: String
        /// The connection's socket id, which the client was told.
        public let socketID: String
        /// The channels it is subscribed to, sorted.
        public let channels: [String]
    }

    /// The connections that were let in, ordered by number.
    package var openConnections: [ConnectionInfo] {
        connections.sorted { $0.key < $1.key }.map { id, connection in
            ConnectionInfo(
                id: id, appKey: connection.app.key, socketID: connection.socketID,
                channels: connection.subscriptions.keys.sorted().map(\.text))
        }
    }

    /// Returns the connections subscribed to a channel, ordered by number; those of all apps unless one is named.
    package func subscribers(of channel: String, appKey: String? = nil) -> [ConnectionID] {
        keys(of: channel, appKey: appKey).flatMap { channels[$0]?.subscribers ?? [] }.sorted()
    }

    /// Returns the ids of a presence channel's members in the order in which they joined; those of all apps unless one is named.
    package func members(of channel: String, appKey: String? = nil) -> [String] {
        keys(of: channel, appKey: appKey).flatMap { channels[$0]?.memberIDs ?? [] }.map(\.text)
    }

    /// Publishes an event as an app's backend does. On an encrypted channel, it is encrypted with the key derived from the app's
    /// master key.
    ///
    /// An event that the HTTP API would refuse is not sent, nor is an event in plain text on an encrypted channel. A notice says
    /// why.
    ///
    /// - Parameters:
    ///   - channel: The channel's name.
    ///   - event: The event's name.
    ///   - data: The event's data, usually JSON text; subscribers receive it as a JSON string.
    ///   - appKey: The key of the app to publish in; `nil` for all apps.
    ///   - socketID: The socket id of a connection to leave out.
    /// - Returns: The number of connections that the event is sent to.
    @discardableResult
    package mutating func publish(
        channel: String, event: String, data: String, appKey: String? = nil, excluding socketID: String? = nil
    ) -> Int {
        let name = ChannelName(channel)
        var receivers = 0
        do throws(HTTPRefusal) {
            // All checks come before the first event is sent.
            var ready: [(app: ServerApp, data: String)] = []
            for app in publishers(on: name, appKey: appKey) {
                let sealed = try seal(data, on: name, of: app)
                let (text, _) = try publishedData(.string(sealed))
                try check(Trigger(name: event, data: text, channels: [channel]))
                ready.append((app, text))
            }
            for (app, data) in ready {
                receivers += deliver(event, on: name, data: data, app: app, excluding: socketID)
            }
            effects.append(.notice(.published(channel: channel, event: event, receivers: receivers)))
        } catch {
            effects.append(.notice(.publishRefused(channel: channel, event: event, reason: error.reason)))
        }
        return receivers
    }

    /// Sends an event of the HTTP API as it is, because the caller has already encrypted it if necessary.
    mutating func passOn(
        _ event: String, channel: String, data: String, isValue: Bool, more: SockudoEvent.More, app: ServerApp,
        excluding socketID: String?
    ) {
        let receivers = deliver(
            event, on: ChannelName(channel), data: data, isValue: isValue, more: more, app: app, excluding: socketID)
        effects.append(.notice(.published(channel: channel, event: event, receivers: receivers)))
    }

    private mutating func deliver(
        _ event: String, on channel: ChannelName, data: String, isValue: Bool = false, more: SockudoEvent.More = .init(),
        app: ServerApp, excluding socketID: String?
    ) -> Int {
        let key = ChannelKey(appKey: app.key, name: channel.name)
        let frame = ServerFrame.event(event, channel: channel.text, json: isValue ? data : data.quotedJSON, userID: nil)
        if profile.keepsEmptyChannels { knownChannels.insert(key) }
        if caches(channel) { cache.keep(frame, data: data, for: key, until: now + profile.cacheLifetime, at: now) }
        var subscribers = channels[key]?.subscribers ?? []
        if profile.reachesUsersDirectly, ServerUser.isUserChannel(channel.text) {
            let signedIn = connections.filter { $0.value.user?.channel == channel.name && $0.value.app.hasKey(app.key) }.keys
            subscribers += signedIn.filter { !subscribers.contains($0) }.sorted()
        }
        let receivers = subscribers.filter {
            guard let socketID, let connection = connections[$0] else { return true }
            return !connection.socketID.hasBytes(of: socketID)
        }
        sendEvent(frame, SockudoEvent(name: event, more: more), of: key, to: receivers)
        observe(event, on: channel, data: data, app: app, by: nil, receivers: receivers.count)
        return receivers.count
    }

    /// Returns the apps to publish an event in. Those without a master key are left out for an encrypted channel, because nobody
    /// is on it there, unless no app has one.
    private func publishers(on channel: ChannelName, appKey: String?) -> [ServerApp] {
        let named = apps.filter { appKey.map($0.hasKey) ?? true }
        guard channel.kind == .encrypted else { return named }
        let able = named.filter { $0.sharedSecret(of: channel) != nil }
        return able.isEmpty ? named : able
    }

    /// Returns the data as a backend sends it. Data for an encrypted channel never leaves the backend in plain text.
    private mutating func seal(
        _ data: String, on channel: ChannelName, of app: ServerApp
    ) throws(HTTPRefusal) -> String {
        guard channel.kind == .encrypted else { return data }
        guard let key = app.sharedSecret(of: channel)?.bytes,
            let encrypted = EncryptedEvent.encrypt(data, with: key, nonce: nonce())
        else { throw HTTPRefusal(status: 400, reason: "\(app) has no master key, and \(channel.text) is encrypted") }
        return encrypted
    }

    /// Returns a nonce from the machine's own generator, so that the same seed gives the same events.
    private mutating func nonce() -> [UInt8] {
        (0..<SecretBox.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private func keys(of channel: String, appKey: String?) -> [ChannelKey] {
        apps.filter { appKey.map($0.hasKey) ?? true }.map { ChannelKey(appKey: $0.key, name: Name(channel)) }
    }
}

extension ServerMachine {
    /// Publishes an event for a test. Returns the number of connections that it is sent to, and a finding if there are none.
    /// There is no such finding for a refused event, which is already one, or for an event that is kept for later subscribers.
    mutating func publish(
        channel: String, event: String, data: String, appKey: String?, location: String
    ) -> (receivers: Int, unheard: Finding?) {
        let before = effects.count
        let receivers = publish(channel: channel, event: event, data: data, appKey: appKey)
        let isRefused = effects[before...].contains { if case .notice(.publishRefused) = $0 { true } else { false } }
        let isKept = isRefused || receivers > 0 || caches(ChannelName(channel))
        return (receivers, isKept ? nil : unheard(event, on: channel, location: location))
    }

    /// Returns the finding that an event reached nobody, which names the channels that have subscribers.
    private func unheard(_ event: String, on channel: String, location: String) -> Finding {
        let others = Set(openConnections.flatMap(\.channels)).sorted()
        let instead =
            others.isEmpty ? "nobody is subscribed to any channel" : "those subscribed to are \(others.joined(separator: ", "))"
        return Finding(.unheard, "\(event) on \(channel), published at \(location), reached nobody; \(instead)")
    }
}
