import Foundation
import PusherChannels

/// The value of an environment variable.
package func setting(_ name: String) throws -> String {
    guard let value = ProcessInfo.processInfo.environment[name] else { throw Missing(name: name) }
    return value
}

/// An environment variable that isn't set.
package struct Missing: Error, CustomStringConvertible {
    let name: String

    package var description: String { "\(name) is not set" }
}

/// The hosted service's cluster, or a server of one's own: `PUSHER_CLUSTER`, or `PUSHER_HOST` and `PUSHER_PORT`.
package struct ChannelsServer {
    package let host: PusherHost
    package let port: Int?
    package let useTLS: Bool

    package init() throws {
        if let cluster = try? setting("PUSHER_CLUSTER") {
            (host, port, useTLS) = (.cluster(cluster), nil, true)
        } else {
            (host, port, useTLS) = (.host(try setting("PUSHER_HOST")), Int(try setting("PUSHER_PORT")), false)
        }
    }
}
