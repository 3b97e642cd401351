/// The connection went from one state to another.
public struct ConnectionStateChange: Equatable, Sendable {
    /// Where it stood before.
    public let old: ConnectionState
    /// Where it stands now.
    public let new: ConnectionState
    /// The reason for the change; nil for what the application asked for, and for success.
    public let reason: PusherError?
}

/// Somebody joined or left a presence channel.
public enum PresenceChange: Sendable {
    /// A member came.
    case joined(PusherPresenceChannelMember)
    /// A member went.
    case left(PusherPresenceChannelMember)
}
