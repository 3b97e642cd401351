extension ProxyConfiguration {
    /// The proxy to go through, if it can be connected to; nil for the direct way. `ask` asks the environment.
    func proxy(
        asking ask: (ProxyEnvironment) throws(WebSocketFailure) -> HTTPProxy?
    ) throws(WebSocketFailure) -> HTTPProxy? {
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
    /// The proxy to go through; nil for the direct way.
    var effectiveProxy: HTTPProxy? {
        get throws(WebSocketFailure) {
            try proxy.proxy { (environment) throws(WebSocketFailure) in
                try environment.proxy(for: host, port: port, secure: secure)
            }
        }
    }
}
