/// One event of a batch, for ``PusherHTTPAPI/triggerBatch(_:)``.
public struct PusherBatchEvent: Sendable {
    /// The channel that the event is for.
    public var channel: String
    /// The event's name.
    public var eventName: String
    /// The event's data: a `String` is sent as it is, `Data` as UTF-8 text, anything else as JSON.
    public var data: any Encodable & Sendable
    /// The connection that doesn't get the event; nil for none.
    public var excludedSocketID: String?
    /// The requested attributes of the channel.
    public var info: [PusherChannelInfo.Attribute]
    /// The key by which a Sockudo server publishes the event only once, as for
    /// ``PusherHTTPAPI/trigger(channels:eventName:data:excluding:info:idempotencyKey:tags:)``.
    public var idempotencyKey: String?
    /// The tags, as there.
    public var tags: [String: String]

    /// Creates an event; the connection with `excluding` as its socket id doesn't get it.
    public init(
        channel: String, eventName: String, data: any Encodable & Sendable, excluding socketID: String? = nil,
        info: [PusherChannelInfo.Attribute] = [], idempotencyKey: String? = nil, tags: [String: String] = [:]
    ) {
        self.channel = channel
        self.eventName = eventName
        self.data = data
        excludedSocketID = socketID
        self.info = info
        self.idempotencyKey = idempotencyKey
        self.tags = tags
    }
}
