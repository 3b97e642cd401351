/// A notification for the user. Notifications come in the order in which things happened.
enum Delivery: Equatable, Sendable {
    case event(Envelope)
    indirect case stateChanged(from: ConnectionState, to: ConnectionState, because: PusherError? = nil)
    /// On a Sockudo server, with the place in the channel's stream at which those begin who have nothing of it.
    indirect case subscribed(channel: Name, place: ReadPlace? = nil)
    /// The channel is subscribed again: events sent on it since that time may be missing.
    indirect case gap(channel: Name, since: Instant)
    /// The channel is subscribed again, and this number of events that were sent meanwhile was replayed, which was all.
    indirect case recovered(channel: Name, count: Int)
    indirect case subscriptionFailed(channel: Name, SubscriptionFailure)
    /// A member came or left, of which closures that are bound to the protocol's event hear, too.
    indirect case memberAdded(channel: Name, PresenceMember)
    indirect case memberRemoved(channel: Name, PresenceMember)
    indirect case subscriptionCount(channel: Name, Int)
    indirect case signedIn(userID: Name)
    indirect case signInFailed(PusherError)
    /// An event sent to the signed-in user rather than to one connection.
    case userEvent(Envelope)
    indirect case watchlist(WatchlistEvent)
    /// An event could not be decrypted. It arrived after `since`.
    indirect case decryptionFailed(channel: Name, event: Name, data: String?, since: Instant)
    /// The server sent a `pusher:error`.
    indirect case serverError(PusherError)
    /// Another error that isn't about a single channel: a failed attempt, a close code, an odd frame.
    indirect case report(PusherError)
}

extension Delivery {
    /// The event for bound closures and for streams of events, if there is one.
    var envelope: Envelope? {
        switch self {
        case .event(let envelope), .userEvent(let envelope): envelope
        case .memberAdded(let channel, let member): member.envelope("pusher:member_added", of: channel, info: member.info)
        case .memberRemoved(let channel, let member): member.envelope("pusher:member_removed", of: channel)
        case .stateChanged, .subscribed, .gap, .recovered, .subscriptionFailed, .subscriptionCount, .signedIn, .signInFailed,
            .watchlist,
            .decryptionFailed, .serverError, .report:
            nil
        }
    }
}

extension PresenceMember {
    /// Returns the event for a member. The member's description is passed on as the server wrote it.
    fileprivate func envelope(_ event: Name, of channel: Name, info: JSONText? = nil) -> Envelope {
        let info = info.map { ",\"user_info\":\($0.text)" } ?? ""
        return Envelope(event: event, channel: channel, data: "{\"user_id\":\(userID.text.quotedJSON)\(info)}")
    }
}
