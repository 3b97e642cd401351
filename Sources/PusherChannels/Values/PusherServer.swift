/// A server that a client may connect to instead of its first one; see ``PusherClientOptions/fallbackHosts``.
public struct PusherServer: Equatable, Sendable {
    /// The host or cluster.
    public let host: PusherHost
    /// The port; nil for 443 with TLS and 80 without.
    public let port: Int?
    /// Indicates whether to use TLS.
    public let useTLS: Bool

    /// Creates a server's address.
    public init(_ host: PusherHost, port: Int? = nil, useTLS: Bool = true) {
        (self.host, self.port, self.useTLS) = (host, port, useTLS)
    }
}
