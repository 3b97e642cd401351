/// The server to connect to.
public enum PusherHost: Equatable, Sendable, CustomStringConvertible {
    /// A host name or address of a self-hosted server.
    case host(String)
    /// A cluster of Pusher's hosted service, such as `eu`.
    case cluster(String)

    /// The hosted service's first cluster.
    public static let defaultHost = PusherHost.host("ws.pusherapp.com")

    /// The host's name. For a cluster without a name it is empty, and no client connects to it.
    public var stringValue: String {
        switch self {
        case .host(let host): host
        case .cluster(let cluster): cluster.isEmpty ? "" : "ws-\(cluster).pusher.com"
        }
    }

    /// The host of the matching HTTP API; self-hosted servers serve both on one host.
    var apiHost: String {
        switch self {
        case .defaultHost: "api.pusherapp.com"
        case .host(let host): host
        case .cluster(let cluster): cluster.isEmpty ? "" : "api-\(cluster).pusher.com"
        }
    }

    /// The name, for messages.
    var withoutSecrets: String { stringValue.hostWithoutSecrets }

    /// The ``stringValue``.
    public var description: String { stringValue }
}

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
