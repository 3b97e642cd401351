/// The events that reveal losses: numbered, and the same on all channels.
enum FeedEvent {
    static let name = "tick"
    static let channels = ["feed", "private-feed", "presence-feed"]
}
