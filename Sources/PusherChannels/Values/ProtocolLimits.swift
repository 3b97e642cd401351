/// The limits that a client checks before it asks a server, so that a mistake has a clear error at once; nil means not checked.
public struct ProtocolLimits: Equatable, Sendable {
    /// The largest number of bytes of UTF-8 a channel's name may have, prefix included.
    public var channelNameLength: Int?
    /// Indicates whether a channel's name is made of letters, digits and `_ - = @ , . ;` only.
    public var restrictsChannelCharacters: Bool
    /// The largest number of bytes of UTF-8 an event's name may have.
    public var eventNameLength: Int?
    /// The largest number of bytes of JSON a client event may carry.
    public var eventDataSize: Int?
    /// The largest number of client events a connection may send in a second; with zero or less each is refused.
    public var clientEventsPerSecond: Int?

    /// Creates limits; what is left out is as the hosted service has it.
    public init(
        channelNameLength: Int? = 164, restrictsChannelCharacters: Bool = true, eventNameLength: Int? = 200,
        eventDataSize: Int? = 10_240, clientEventsPerSecond: Int? = 10
    ) {
        self.channelNameLength = channelNameLength
        self.restrictsChannelCharacters = restrictsChannelCharacters
        self.eventNameLength = eventNameLength
        self.eventDataSize = eventDataSize
        self.clientEventsPerSecond = clientEventsPerSecond
    }

    /// The hosted service's limits; most self-hosted servers have the same.
    public static let hosted = ProtocolLimits()

    /// None, for self-hosted servers with limits of their own.
    public static let unchecked = ProtocolLimits(
        channelNameLength: nil, restrictsChannelCharacters: false, eventNameLength: nil, eventDataSize: nil,
        clientEventsPerSecond: nil)
}
