import Foundation
import PusherChannels

/// Returns the value of an environment variable.
package func setting(_ name: String) throws -> String {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { throw Missing(name: name) }
    return value
}

/// Returns the value of an environment variable that is a TCP port.
package func port(_ name: String) throws -> Int {
    let value = try setting(name)
    guard let port = Int(value), (1...65_535).contains(port) else {
        throw Unusable(name: name, value: value, need: "a number from 1 to 65535")
    }
    return port
}

/// An environment variable that isn't set.
package struct Missing: Error, CustomStringConvertible {
    let name: String

    package var description: String { "\(name) is not set" }
}

/// An environment variable that has an unusable value.
package struct Unusable: Error, CustomStringConvertible {
    let name: String
    let value: String
    let need: String

    package var description: String { "\(name) is \"\(value)\", not \(need)" }
}

/// The server to connect to: the hosted service's cluster (`PUSHER_CLUSTER`), or a server of your own (`PUSHER_HOST` and
/// `PUSHER_PORT`, with TLS if `PUSHER_TLS` is 1).
package struct ChannelsServer {
    package let host: PusherHost
    package let port: Int?
    package let useTLS: Bool

    package init() throws {
        if let cluster = try? setting("PUSHER_CLUSTER") {
            (host, port, useTLS) = (.cluster(cluster), nil, true)
        } else {
            let tls = (try? setting("PUSHER_TLS")) ?? ""
            guard ["", "0", "1"].contains(tls) else { throw Unusable(name: "PUSHER_TLS", value: tls, need: "1 or 0") }
            (host, port, useTLS) = (.host(try setting("PUSHER_HOST")), try Settings.port("PUSHER_PORT"), tls == "1")
        }
    }
}
