import Foundation

/// Something that happens to a channel, as ``PusherChannel/updates`` tells it: all of it, in order.
public enum ChannelUpdate: Sendable {
    /// The server confirmed the subscription; after a reconnect, again. In ``Pusher/updates(of:auth:buffering:)`` it is also the first update
    /// of a channel that is subscribed already.
    case subscribed
    /// An event. The protocol's own that have a case here are told by it alone.
    case event(PusherEvent)
    /// Events may not have come: the connection was lost, or the stream had no room for them. The protocol has no way to ask for them; an
    /// application that needs them asks its own server.
    case eventsMayBeMissing(EventGap)
    /// A member joined the presence channel; after a reconnect, also one who joined meanwhile.
    case memberAdded(PusherPresenceChannelMember)
    /// A member left the presence channel; after a reconnect, also one who left meanwhile.
    case memberRemoved(PusherPresenceChannelMember)
    /// The number of connections that are subscribed, if the server tells.
    case subscriptionCount(Int)
    /// The channel could not be subscribed to. In ``PusherChannel/updates`` it is tried again in a while; where that can't help, the stream
    /// throws the error instead. In ``PusherPool/updates`` both come here: ``PusherError/isRetryable`` tells which it is.
    case subscriptionFailed(PusherError)
}

/// A time from which on events of a channel may be missing.
public struct EventGap: Sendable {
    /// The cause of a gap.
    public enum Reason: Equatable, Sendable {
        /// The connection was lost and made again, or a ``PusherPool`` moved the channel to another.
        case reconnected
        /// The stream had no room for them; see ``StreamBuffering``.
        case overflow
        /// An event of an encrypted channel could not be decrypted, or too many waited for that;
        /// ``PusherDelegate/failedToDecryptEvent(eventName:channelName:data:)`` names each.
        case decryptionFailed
    }

    /// The cause of the gap.
    public let reason: Reason

    /// The time since when events may be missing, by the clock of this machine: what came before was heard. An event that was published before
    /// and was on its way then may be missing, too: who asks for those since then asks for some seconds more.
    public var since: Date { time() }

    private let time: @Sendable () -> Date

    init(_ reason: Reason, since time: @escaping @Sendable () -> Date) {
        self.reason = reason
        self.time = time
    }

    /// Creates a gap; the SDK makes its own, applications need this only in tests.
    public init(since: Date, reason: Reason) {
        self.init(reason) { since }
    }
}

extension ChannelUpdate {
    /// The number of bytes that count while it waits.
    var size: Int {
        switch self {
        case .event(let event): event.envelope.size
        case .memberAdded(let member), .memberRemoved(let member): member.userId.utf8.count + (member.info?.text.utf8.count ?? 0)
        default: 0
        }
    }

    private static let ownCases: Set<Name> = [
        "pusher:subscription_succeeded", "pusher:subscription_error", "pusher:subscription_count", "pusher:member_added",
        "pusher:member_removed",
    ]

    /// Indicates whether events of this name have a case of their own.
    static func hasCase(forEvent name: Name) -> Bool { ownCases.contains(name) }
}
