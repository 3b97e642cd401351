/// The limits that are checked before a server is asked, so that a mistake has a clear error at once; nil means not checked.
public struct ProtocolLimits: Equatable, Sendable {
    /// The largest number of bytes of UTF-8 a channel's name may have, prefix included.
    public var channelNameLength: Int?
    /// Indicates whether a channel's name is made of letters, digits and `_ - = @ , . ;` only.
    public var restrictsChannelCharacters: Bool
    /// The largest number of bytes of UTF-8 an event's name may have.
    public var eventNameLength: Int?
    /// The largest number of bytes of data an event may carry, as they are sent: as JSON, and encrypted where the channel is.
    public var eventDataSize: Int?
    /// The largest number of client events a connection may send in a second; with zero or less each is refused.
    public var clientEventsPerSecond: Int?
    /// The largest number of channels one publish may name.
    public var channelsPerEvent: Int?
    /// The largest number of events one batch may hold.
    public var eventsPerBatch: Int?
    /// The largest number of bytes of UTF-8 a user's id may have where it is signed.
    public var userIDLength: Int?
    /// The largest number of bytes of JSON that may say who a user is.
    public var userInfoSize: Int?
    /// The largest number of users the watchlist of one may name.
    public var watchlistLength: Int?

    /// Creates limits; what is left out is as the hosted service has it.
    public init(
        channelNameLength: Int? = 164, restrictsChannelCharacters: Bool = true, eventNameLength: Int? = 200,
        eventDataSize: Int? = 10_240, clientEventsPerSecond: Int? = 10, channelsPerEvent: Int? = 100, eventsPerBatch: Int? = 10,
        userIDLength: Int? = 128, userInfoSize: Int? = 1024, watchlistLength: Int? = 100
    ) {
        self.channelNameLength = channelNameLength
        self.restrictsChannelCharacters = restrictsChannelCharacters
        self.eventNameLength = eventNameLength
        self.eventDataSize = eventDataSize
        self.clientEventsPerSecond = clientEventsPerSecond
        self.channelsPerEvent = channelsPerEvent
        self.eventsPerBatch = eventsPerBatch
        self.userIDLength = userIDLength
        self.userInfoSize = userInfoSize
        self.watchlistLength = watchlistLength
    }

    /// The hosted service's limits; most self-hosted servers have the same.
    public static let hosted = ProtocolLimits()

    /// The limits of the official server libraries, which let channel names have 200 characters and leave the rest to the server.
    public static let serverLibraries = ProtocolLimits(channelNameLength: 200)

    /// None, for self-hosted servers with limits of their own.
    public static let unchecked = ProtocolLimits(
        channelNameLength: nil, restrictsChannelCharacters: false, eventNameLength: nil, eventDataSize: nil,
        clientEventsPerSecond: nil, channelsPerEvent: nil, eventsPerBatch: nil, userIDLength: nil, userInfoSize: nil,
        watchlistLength: nil)
}
