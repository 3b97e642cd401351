/// The channels a connection knows: those that were subscribed to and not unsubscribed from.
///
/// PusherSwift calls the class `PusherChannels`; here that is the module's name.
public struct ChannelList: Sendable {
    let connection: PusherConnection

    /// All channels, ordered by name.
    public var channels: [PusherChannel] {
        connection.driver.runner.hub.channelNames.map { connection.channel($0) }
    }

    /// The channel with this name.
    public func find(name: String) -> PusherChannel? {
        connection.driver.runner.hub.knownListeners(of: name).map { _ in connection.channel(name) }
    }

    /// The presence channel with this name.
    public func findPresence(name: String) -> PusherPresenceChannel? {
        find(name: name) as? PusherPresenceChannel
    }
}
