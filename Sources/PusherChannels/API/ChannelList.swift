/// The channels a connection knows: those that were subscribed to and not unsubscribed from.
///
/// PusherSwift calls the class `PusherChannels`; here that is the module's name. All members may be used from any thread.
public struct ChannelList: Sendable {
    let connection: PusherConnection

    /// All channels by name. Of names that differ in their bytes alone, and are one to Swift's `String`, only one is here: ``all`` has both.
    public var channels: [String: PusherChannel] {
        Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    }

    /// All channels, ordered by name.
    public var all: [PusherChannel] {
        connection.core.channels.map { connection.channel($0.name, $0.number) }
    }

    /// The channel with this name.
    public func find(name: String) -> PusherChannel? {
        connection.core.channel(Name(name)).map { connection.channel(Name(name), $0) }
    }

    /// The presence channel with this name.
    public func findPresence(name: String) -> PusherPresenceChannel? {
        find(name: name) as? PusherPresenceChannel
    }
}
