/// The protocol that a client speaks with its server.
public enum PusherProtocol: Equatable, Sendable {
    /// Pusher Channels protocol 7, which every server speaks.
    case pusher
    /// Sockudo's protocol V2, in which the server numbers a channel's events and replays those that a client missed.
    ///
    /// Other servers don't know it, and answer it as protocol 7 or not at all. What it covers, and which settings a server needs,
    /// is on the page "Recovery with Sockudo".
    case sockudo
}
