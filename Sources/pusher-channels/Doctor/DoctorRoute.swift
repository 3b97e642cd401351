import PusherChannels

/// A description of a client's route, for a person.
struct DoctorRoute: Sendable {
    let host: String
    let port: Int
    let usesTLS: Bool
    /// The proxy on the route; `nil` for a direct connection.
    let proxy: HTTPProxy?
    /// The channel to subscribe to; `nil` if nothing was given to authorize it.
    let channel: String?

    /// The server, as messages name it.
    var endpoint: String { endpointName(host: host, port: port) }

    /// The proxy without its password, as messages name it.
    private var proxyEndpoint: String? { proxy.map { endpointName(host: $0.host, port: $0.port) } }

    /// Returns the fact that is known once a step went well.
    func success(of step: DoctorStep) -> String {
        switch step {
        case .options: "are valid"
        case .name: "\(proxy?.host ?? host) has an address"
        case .address: "there is a route to it"
        case .tcp: "\(proxyEndpoint ?? endpoint) accepts connections"
        case .proxy: "\(proxyEndpoint ?? "it") opens a tunnel to \(endpoint)"
        case .tls: "the certificate of \(host) is valid, and its authority is trusted"
        case .upgrade: "\(endpoint) speaks WebSocket"
        case .protocol: "it is a Channels server that knows the key"
        case .authorization: "\(channel ?? "the channel") was authorized"
        case .subscription: "the server accepts the authorization"
        }
    }

    /// Returns the reason why a step doesn't apply; `nil` if it does.
    func reasonToSkip(_ step: DoctorStep) -> String? {
        switch step {
        case .proxy: proxy == nil ? "no proxy is used" : nil
        case .tls: usesTLS ? nil : "TLS isn't used" + (port == 443 ? ", though 443 is the port for TLS: see --tls" : "")
        case .authorization, .subscription: channel == nil ? "neither --auth-endpoint nor --secret is given" : nil
        case .options, .name, .address, .tcp, .upgrade, .protocol: nil
        }
    }
}
