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

    /// Publishes an event as the HTTP API does.
    ///
    /// - Parameters:
    ///   - data: The event's data, usually JSON text; subscribers receive it as a JSON string.
    ///   - appKey: The app to publish in; `nil` means every app.
    ///   - socketID: A connection to leave out.
    /// - Returns: How many connections it is sent to.
    @discardableResult
    public mutating func publish(
        channel: String, event: String, data: String, appKey: String? = nil, excluding socketID: String? = nil,
        into effects: inout [Effect]
    ) -> Int {
        let excluded = socketID.flatMap { id in connections.first { $0.value.socketID == id }?.key }
        let receivers = subscribers(of: channel, appKey: appKey).filter { $0 != excluded }
        send(ServerFrame.event(event, channel: channel, data: data), to: receivers, into: &effects)
        effects.append(.notice(.published(channel: channel, event: event, receivers: receivers.count)))
        return receivers.count
    }

    private func keys(of channel: String, appKey: String?) -> [ChannelKey] {
        apps.map(\.key).filter { appKey == nil || $0 == appKey }.map { ChannelKey(appKey: $0, name: channel) }
    }
}
