import Foundation

/// The proxies that environment variables name, in the conventions of curl.
struct ProxyEnvironment {
    /// The environment as it was when the first connection was made: reading it while another thread changes it is a race.
    static let ofProcess = ProxyEnvironment(variables: ProcessInfo.processInfo.environment)

    let variables: [String: String]

    /// Returns the proxy for a WebSocket to a host; `nil` for a direct connection.
    func proxy(for host: String, port: Int, secure: Bool) throws(TransportError) -> HTTPProxy? {
        // A proxy for https comes first for ws, too: of the two, it is the one made for tunnels (RFC 6455, 4.1).
        try proxy(for: host, port: port, named: Self.secureNames + (secure ? [] : Self.plainNames) + Self.otherNames)
    }

    /// Returns the proxy for an HTTP request to a host; `nil` for a direct connection.
    func requestProxy(for host: String, port: Int, secure: Bool) throws(TransportError) -> HTTPProxy? {
        try proxy(for: host, port: port, named: (secure ? Self.secureNames : Self.plainNames) + Self.otherNames)
    }

    private static let secureNames = ["https_proxy", "HTTPS_PROXY"]
    // HTTP_PROXY is ignored, because in a CGI program it is a header of the request.
    private static let plainNames = ["http_proxy"]
    private static let otherNames = ["all_proxy", "ALL_PROXY"]

    private func proxy(for host: String, port: Int, named names: [String]) throws(TransportError) -> HTTPProxy? {
        guard !Self.isLoopback(host), !isExempt(host, port: port) else { return nil }
        for name in names {
            guard let value = variables[name], !value.isEmpty else { continue }
            guard let proxy = HTTPProxy(url: value) else {
                throw TransportError(.unsupported, "The variable \(name) names no HTTP proxy (http://host:port)")
            }
            return proxy
        }
        return nil
    }

    /// Returns whether `no_proxy` names the host: itself, a domain above it, a network around it, or all with `*`.
    private func isExempt(_ host: String, port: Int) -> Bool {
        guard let list = variables["no_proxy"] ?? variables["NO_PROXY"] else { return false }
        let host = host.lowercased().trimmingDots()
        return list.lowercased().split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains { entry in
            if entry == "*" { return true }
            if let network = IPNetwork(String(entry)), let address = IPAddress(host) { return network.contains(address) }
            var name = String(entry)
            // A port, unless the colons belong to an address.
            if let colon = name.lastIndex(of: ":"), name.firstIndex(of: ":") == colon {
                guard Int(name[name.index(after: colon)...]) == port else { return false }
                name = String(name[..<colon])
            }
            if name.hasPrefix("*.") { name.removeFirst() }
            name = name.trimmingDots()
            return !name.isEmpty && (host == name || host.hasSuffix("." + name))
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host.lowercased().trimmingDots() == "localhost" { return true }
        guard let address = IPAddress(host) else { return false }
        return address.isLoopback
    }
}

extension String {
    fileprivate func trimmingDots() -> String {
        var name = self[...]
        if name.hasPrefix(".") { name.removeFirst() }
        if name.hasSuffix(".") { name.removeLast() }
        return String(name)
    }
}

extension ProxyConfiguration {
    /// Returns the proxy to use, after checking its host and port; `nil` for a direct connection. `ask` asks the environment.
    func proxy(
        asking ask: (ProxyEnvironment) throws(TransportError) -> HTTPProxy?
    ) throws(TransportError) -> HTTPProxy? {
        switch self {
        case .none: return nil
        case .http(let proxy):
            try HTTPSyntax.checkEndpoint(host: proxy.host, port: proxy.port)
            return proxy
        case .environment: return try ask(.ofProcess)
        }
    }
}

extension WebSocketRequest {
    /// The proxy to use; `nil` for a direct connection.
    package var effectiveProxy: HTTPProxy? {
        get throws(TransportError) {
            try proxy.proxy { (environment) throws(TransportError) in
                try environment.proxy(for: host, port: port, secure: secure)
            }
        }
    }
}
