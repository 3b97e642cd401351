extension HTTPProxy {
    /// Itself, if it can be connected to.
    var checked: HTTPProxy {
        get throws(WebSocketFailure) {
            try HTTPSyntax.checkEndpoint(host: host, port: port)
            return self
        }
    }
}

extension WebSocketRequest {
    /// The proxy to go through; nil for the direct way.
    var effectiveProxy: HTTPProxy? {
        get throws(WebSocketFailure) {
            switch proxy {
            case .none: nil
            case .http(let proxy): try proxy.checked
            case .environment: try ProxyEnvironment.ofProcess.proxy(for: host, port: port, secure: secure)
            }
        }
    }
}
