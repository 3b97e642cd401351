import ArgumentParser
import Foundation
import PusherChannels

/// Where the server is: what the options say, otherwise the environment, otherwise where a local server is.
struct ServerOptions: ParsableArguments {
    @Option(help: "The app's key; $PUSHER_KEY.")
    var key = Self.variable("KEY") ?? "local-key"

    @Option(help: "The cluster of the hosted service, such as eu; $PUSHER_CLUSTER.")
    var cluster: String?

    @Option(help: "The host name or address of a server of your own; $PUSHER_HOST, by default 127.0.0.1.")
    var host: String?

    @Option(help: "The server's port; $PUSHER_PORT, by default 6001, for a cluster its own.")
    var port: Int?

    @Flag(inversion: .prefixedNo, help: "Whether to use TLS; 1 or 0 in $PUSHER_TLS. By default a cluster is asked with TLS.")
    var tls: Bool?

    func validate() throws {
        if host != nil, cluster != nil { throw ValidationError("give --host or --cluster, not both") }
    }

    /// What an option names goes before what the environment names.
    var location: PusherHost {
        if let host { return .host(host) }
        if let cluster { return .cluster(cluster) }
        if let host = Self.variable("HOST") { return .host(host) }
        return Self.variable("CLUSTER").map { .cluster($0) } ?? .host("127.0.0.1")
    }

    /// The port to ask; `nil` for the scheme's own.
    var portToUse: Int? {
        port ?? Self.variable("PORT").flatMap { Int($0) } ?? (isHosted ? nil : 6001)
    }

    var usesTLS: Bool {
        tls ?? Self.variable("TLS").map { $0 == "1" } ?? isHosted
    }

    private var isHosted: Bool {
        if case .cluster = location { true } else { false }
    }

    /// A variable as `LocalServer.environment` sets it for a child process; one that is empty isn't set.
    static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["PUSHER_\(name)"].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Something went wrong that the user of the command must know of.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
