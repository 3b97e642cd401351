import Foundation
import PusherChannels

/// The value of an environment variable.
package func setting(_ name: String) throws -> String {
    guard let value = ProcessInfo.processInfo.environment[name] else { throw Missing(name: name) }
    return value
}

/// The value of an environment variable that is a number.
package func number(_ name: String) throws -> Int {
    let value = try setting(name)
    guard let number = Int(value) else { throw NoNumber(name: name, value: value) }
    return number
}

/// An environment variable that isn't set.
package struct Missing: Error, CustomStringConvertible {
    let name: String

    package var description: String { "\(name) is not set" }
}

/// An environment variable that should be a number and isn't.
package struct NoNumber: Error, CustomStringConvertible {
    let name: String
    let value: String

    package var description: String { "\(name) is \"\(value)\", which is no number" }
}

/// The hosted service's cluster, or a server of one's own: `PUSHER_CLUSTER`, or `PUSHER_HOST` and `PUSHER_PORT`, with TLS where `PUSHER_TLS`
/// is 1.
package struct ChannelsServer {
    package let host: PusherHost
    package let port: Int?
    package let useTLS: Bool

    package init() throws {
        if let cluster = try? setting("PUSHER_CLUSTER") {
            (host, port, useTLS) = (.cluster(cluster), nil, true)
        } else {
            (host, port) = (.host(try setting("PUSHER_HOST")), try number("PUSHER_PORT"))
            useTLS = (try? setting("PUSHER_TLS")) == "1"
        }
    }
}
