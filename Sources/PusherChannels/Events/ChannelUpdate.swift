import Foundation

/// An update of a channel. ``PusherChannel/updates`` has all of them, in order.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ChannelUpdate: Sendable {
    /// The server confirmed the subscription; after a reconnect, again. In ``Pusher/updates(of:auth:rewind:filter:buffering:)`` it is also the
    /// first update of a channel that is subscribed already, after the gap since an earlier stream of it, if there was one.
    case subscribed
    /// An event. Protocol events that have their own case here only come as that case.
    case event(PusherEvent)
    /// Events may be missing: the connection was lost, the stream had no room for them, or an earlier stream of the channel ended. The protocol has no way to ask for
    /// them; an application that needs them asks its own server.
    case eventsMayBeMissing(EventGap)
    /// The channel is subscribed again, and nothing is missing: the server replayed what was sent meanwhile (``PusherProtocol/sockudo``).
    /// The events before this update, which are that many, are those that came so. Then comes `subscribed`.
    /// An encrypted channel's events come after both, once they are decrypted.
    case recovered(count: Int)
    /// A member joined the presence channel; after a reconnect, also one who joined meanwhile.
    case memberAdded(PusherPresenceChannelMember)
    /// A member left the presence channel; after a reconnect, also one who left meanwhile.
    case memberRemoved(PusherPresenceChannelMember)
    /// The number of subscribed connections, if the server reports it.
    case subscriptionCount(Int)
    /// The channel could not be subscribed to. In ``PusherChannel/updates`` the subscription is retried after a while; if that
    /// can't help, the stream throws the error instead. ``PusherPool/updates`` has both; ``PusherError/isRetryable`` tells them
    /// apart.
    case subscriptionFailed(PusherError)
}

/// The time since which events of a channel may be missing, and the reason.
public struct EventGap: Sendable {
    /// The cause of a gap.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Reason: Equatable, Sendable {
        /// The connection was lost and made again, or a ``PusherPool`` moved the channel to another connection.
        case reconnected
        /// The stream had no room for the events; see ``StreamBuffering``.
        case overflow
        /// An event of an encrypted channel could not be decrypted, or too many were waiting to be decrypted;
        /// ``PusherDelegate/failedToDecryptEvent(eventName:channelName:data:)`` names each.
        case decryptionFailed
        /// An earlier stream of the channel or the loop over it ended, and nobody read what came between it and this one. The gap
        /// begins before the last update that it gave, because an error may have ended the loop that handled it.
        case betweenStreams
    }

    /// The cause of the gap.
    public let reason: Reason

    /// The time since which events may be missing, by this machine's clock. No event that arrived earlier is missing. An event
    /// that was published before this time but was still in transit may be missing, too, so when asking for missed events, go
    /// back a few seconds further.
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
    /// The number of bytes that count toward a buffer's limit.
    var size: Int {
        switch self {
        case .event(let event): event.envelope.size
        case .memberAdded(let member), .memberRemoved(let member): member.userID.utf8.count + (member.info?.text.utf8.count ?? 0)
        case .subscriptionFailed(let error): error.size
        case .subscribed, .eventsMayBeMissing, .recovered, .subscriptionCount: 0
        }
    }

    /// The event that it is; nil for other updates.
    var event: PusherEvent? { if case .event(let event) = self { event } else { nil } }

    private static let ownCases: Set<Name> = [
        "pusher:subscription_succeeded", "pusher:subscription_error", "pusher:subscription_count", "pusher:member_added",
        "pusher:member_removed",
    ]

    /// Returns whether events of this name have their own case.
    static func hasCase(forEvent name: Name) -> Bool { ownCases.contains(name) }
}
