import Foundation

extension HTTPProxy {
    fileprivate var checked: HTTPProxy {
        get throws(WebSocketFailure) {
            try checkEndpoint(host: host, port: port)
            return self
        }
    }
}

extension WebSocketRequest {
    /// The environment as it was when the first connection was made: reading it while another thread changes it is a race.
    private static let environment = ProxyEnvironment(variables: ProcessInfo.processInfo.environment)

    /// The proxy to go through; nil for the direct way.
    var effectiveProxy: HTTPProxy? {
        get throws(WebSocketFailure) {
            switch proxy {
            case .none: nil
            case .http(let proxy): try proxy.checked
            case .environment: try Self.environment.proxy(for: host, port: port, secure: secure)
            }
        }
    }
}
