/// The limits that are checked before anything is sent, to report a mistake at once with a clear error; nil means not checked.
public struct ProtocolLimits: Equatable, Sendable {
    /// The maximum length of a channel's name in characters (Unicode scalars), prefix included.
    public var channelNameLength: Int?
    /// Indicates whether a channel's name may contain only letters, digits and `_ - = @ , . ;`.
    public var restrictsChannelCharacters: Bool
    /// The maximum length of an event's name in characters (Unicode scalars).
    public var eventNameLength: Int?
    /// The maximum size of a client event's data in bytes, as JSON. What is published has no limit here: the server's refusal
    /// decides, because the hosted service takes 10 KB and others take more.
    public var eventDataSize: Int?
    /// The maximum number of client events a connection may send per second; with zero or less, all are refused.
    public var clientEventsPerSecond: Int?
    /// The maximum number of channels per publish.
    public var channelsPerEvent: Int?
    /// The maximum number of events per batch.
    public var eventsPerBatch: Int?
    /// The maximum length of a signed user id in characters (Unicode scalars).
    public var userIDLength: Int?
    /// The maximum size of the JSON that describes a user, in bytes.
    public var userInfoSize: Int?
    /// The maximum number of users in a watchlist.
    public var watchlistLength: Int?

    /// Creates limits. The defaults are those of the hosted service.
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

    /// The hosted service's limits, but with channel names of up to 200 characters, as the official server libraries allow.
    public static let serverLibraries = ProtocolLimits(channelNameLength: 200)

    /// No limits, for self-hosted servers that have their own.
    public static let unchecked = ProtocolLimits(
        channelNameLength: nil, restrictsChannelCharacters: false, eventNameLength: nil, eventDataSize: nil,
        clientEventsPerSecond: nil, channelsPerEvent: nil, eventsPerBatch: nil, userIDLength: nil, userInfoSize: nil,
        watchlistLength: nil)
}

extension ProtocolLimits {
    /// Returns why an event can't have this name; nil if it can.
    func problem(ofEventName name: String) -> String? {
        Self.problem(of: name, as: "an event name", upTo: eventNameLength)
    }

    /// Returns why a text is too long; nil if it isn't. The service's limits are documented in characters, whatever their bytes.
    static func problem(of text: String, as what: String, upTo limit: Int?) -> String? {
        guard let limit, text.unicodeScalars.count > limit else { return nil }
        return "\(what) can't be longer than \(limit) characters, this one has \(text.unicodeScalars.count)"
    }
}

/// The protocol that a client speaks with its server.
public enum PusherProtocol: Equatable, Sendable {
    /// Pusher Channels protocol 7, which every server speaks.
    case pusher
    /// Sockudo's protocol V2, in which the server numbers a channel's events and replays those that a client missed.
    ///
    /// Other servers don't know it, and answer it as protocol 7 or not at all. What it covers, and which settings a server needs,
    /// is on the page "Recovery with Sockudo".
    case sockudo
}
