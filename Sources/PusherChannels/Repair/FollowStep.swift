/// What a followed channel gives next: the application's state, an event to apply to it, or a failure that is retried.
public enum FollowStep<State: Sendable>: Sendable {
    /// The state as the application's own API gave it, and why it was loaded. It takes the place of the earlier one: events that
    /// follow are to be applied to it.
    case state(State, LoadReason)
    /// An event that isn't in the state, or may not be. An event that came while the state was loaded can be older than it: apply
    /// events so that twice does no harm, compare a version, or give `covers:`.
    case event(PusherEvent)
    /// The state could not be loaded, or the channel not be subscribed to. Either is tried again, but for one case: in a pool, a
    /// channel that the server or the endpoint refused for good (a ``PusherError`` whose ``PusherError/isRetryable`` is false) waits
    /// for the next connection or `subscribe`.
    case failed(any Error)
}

/// The reason why a followed channel's state was loaded.
public enum LoadReason: Sendable {
    /// It is the first state.
    case first
    /// Events may be missing since the previous one.
    case gap(EventGap)
    /// The channel was given up and subscribed to again.
    case subscribedAgain
    /// More came while the previous one was loaded than may be held.
    case heldTooMuch
    /// The application called `reload()`.
    case reload
    /// The previous one was older than `maximumAge:`.
    case maximumAge
}

extension LoadReason: CustomStringConvertible {
    /// The reason in a few words, for a log line.
    public var description: String {
        switch self {
        case .first: "first"
        case .gap(let gap): "\(gap.reason)"
        case .subscribedAgain: "subscribed again"
        case .heldTooMuch: "held too much"
        case .reload: "reload"
        case .maximumAge: "maximum age"
        }
    }

    /// How much the reason says, beside another one.
    var weight: Int {
        switch self {
        case .subscribedAgain, .maximumAge: 0
        case .reload: 1
        case .first, .gap, .heldTooMuch: 2
        }
    }

    /// Indicates whether another reason says more.
    var isVague: Bool { weight == 0 }
}
