import PusherChannels

/// The details in which Channels servers differ.
public struct ServerProfile: Equatable, Sendable {
    /// What `connection_established` tells clients, in seconds (`activity_timeout`).
    public var activityTimeout: Int
    /// How long a connection may be silent before the server sends `pusher:ping`; `nil` means it never does.
    public var idleTimeout: Duration?
    /// How long the server waits for a sign of life after its ping; then it closes with 4201.
    public var pongTimeout: Duration
    /// The protocol versions that are served; others are refused with 4007.
    public var protocolVersions: ClosedRange<Int>
    /// How many characters a channel's name may have.
    public var maximumChannelNameLength: Int
    /// How many characters an event's name may have.
    public var maximumEventNameLength: Int
    /// How many bytes of data an event may carry; the HTTP API answers 413 to more.
    public var maximumEventDataLength: Int
    /// How many channels one trigger may name.
    public var maximumChannelsPerTrigger: Int
    /// How many events one batch may hold.
    public var maximumBatchLength: Int
    /// How many members a presence channel may have.
    public var maximumPresenceMembers: Int

    /// The hosted service, as its documentation and its clients describe it.
    public static let hosted = ServerProfile(
        activityTimeout: 120,
        idleTimeout: nil,
        pongTimeout: .seconds(30),
        protocolVersions: 5...7,
        maximumChannelNameLength: 164,
        maximumEventNameLength: 200,
        maximumEventDataLength: 10_240,
        maximumChannelsPerTrigger: 100,
        maximumBatchLength: 10,
        maximumPresenceMembers: 100
    )
}
