/// The events that tell what was lost: numbered, the same on all channels.
enum FeedEvent {
    static let name = "tick"
    static let channels = ["feed", "private-feed", "presence-feed"]
}
