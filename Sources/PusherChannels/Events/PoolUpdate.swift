/// An update of one of the channels of a ``PusherPool``.
public struct PoolUpdate: Sendable {
    /// The channel's name, prefix included.
    public var channelName: String { channel.text }
    /// The event, gap or change of the channel's state.
    public let update: ChannelUpdate

    let channel: Name

    init(_ channel: Name, _ update: ChannelUpdate) {
        self.channel = channel
        self.update = update
    }

    /// Creates an update; the SDK makes its own, applications need this only in tests.
    public init(channelName: String, update: ChannelUpdate) {
        self.init(Name(channelName), update)
    }
}
