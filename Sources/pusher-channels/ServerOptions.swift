import ArgumentParser
import Foundation
import PusherChannels

/// Where the server is: what the options say, otherwise the environment, otherwise where a local server is.
struct ServerOptions: ParsableArguments {
    @Option(help: "The app's key; $PUSHER_APP_KEY.")
    var key = Self.variable("APP_KEY") ?? "local-key"

    @Option(help: "The server's host name or address; $PUSHER_HOST.")
    var host = Self.variable("HOST") ?? "127.0.0.1"

    @Option(help: "The server's port; $PUSHER_PORT.")
    var port = Self.variable("PORT").flatMap(Int.init) ?? 6001

    @Flag(inversion: .prefixedNo, help: "Whether to use TLS; 1 or 0 in $PUSHER_TLS.")
    var tls = Self.variable("TLS") == "1"

    /// A variable as `LocalServer.environment` sets it for a child process.
    static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["PUSHER_\(name)"]
    }
}

/// Something went wrong that the user of the command must know of.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
