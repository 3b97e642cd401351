/// The channels of a connection: those that were subscribed to and not unsubscribed from.
///
/// PusherSwift calls this type `PusherChannels`, which is the module's name here. All members may be used from any thread.
public struct ChannelList: Sendable {
    let connection: PusherConnection

    /// All channels by name. Names that differ only in their bytes are equal as Swift strings, so only one of them is here;
    /// ``all`` has both.
    public var channels: [String: PusherChannel] {
        Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    }

    /// All channels, ordered by name.
    public var all: [PusherChannel] {
        connection.core.channels.map { connection.channel($0.name, $0.number) }
    }

    /// Returns the channel with this name.
    public func find(name: String) -> PusherChannel? {
        connection.core.channel(Name(name)).map { connection.channel(Name(name), $0) }
    }

    /// Returns the presence channel with this name.
    public func findPresence(name: String) -> PusherPresenceChannel? {
        find(name: name) as? PusherPresenceChannel
    }
}
