/// The server to connect to.
public enum PusherHost: Equatable, Sendable, CustomStringConvertible {
    /// A host name or address of a self-hosted server.
    case host(String)
    /// A cluster of Pusher's hosted service, such as `eu`.
    case cluster(String)

    /// The hosted service's first cluster.
    public static let defaultHost = PusherHost.host("ws.pusherapp.com")

    /// The host's name.
    public var stringValue: String {
        switch self {
        case .host(let host): host
        case .cluster(let cluster): "ws-\(cluster).pusher.com"
        }
    }

    /// The host of the HTTP API that belongs to it: self-hosted servers serve both.
    var apiHost: String {
        switch self {
        case .defaultHost: "api.pusherapp.com"
        case .host(let host): host
        case .cluster(let cluster): "api-\(cluster).pusher.com"
        }
    }

    /// The name without what isn't part of it: somebody may have put an address there, with a password or a token.
    var withoutSecrets: String {
        let address = stringValue.addressWithoutSecrets
        guard let at = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return address }
        return String(address[address.utf8.index(after: at)...])
    }

    /// The ``stringValue``.
    public var description: String { stringValue }
}
