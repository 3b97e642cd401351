/// The type of a channel, which its name tells: who may subscribe to it.
public enum PusherChannelType: Equatable, Sendable {
    /// `private-`: subscribing takes an authorization.
    case `private`
    /// `presence-`: private, and the members know of each other.
    case presence
    /// Anybody may subscribe.
    case normal

    /// The type of the channel with this name. Encrypted channels are private ones.
    public init(name: String) {
        self =
            switch ChannelName(name).kind {
            case .private, .encrypted: .private
            case .presence: .presence
            case .public: .normal
            }
    }
}
