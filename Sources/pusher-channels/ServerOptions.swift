import ArgumentParser
import PusherChannels

/// Where the server is; the defaults are the local server's.
struct ServerOptions: ParsableArguments {
    @Option(help: "The app's key.")
    var key = "local-key"

    @Option(help: "The server's host name or address.")
    var host = "127.0.0.1"

    @Option(help: "The server's port.")
    var port = 6001

    @Flag(inversion: .prefixedNo, help: "Whether to use TLS.")
    var tls = false
}

/// Something went wrong that the user of the command must know of.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
