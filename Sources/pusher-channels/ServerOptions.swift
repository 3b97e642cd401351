import ArgumentParser
import Foundation
import PusherChannels
import TestSupport

/// The way to the server: what the options say, otherwise the environment, the configuration file, and where a local server is.
struct ServerOptions: ParsableArguments {
    @OptionGroup var configuration: SettingsOptions

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

    var settings: Settings { configuration.settings }

    var key: String { configuration.key }

    /// The app of `pusher-channels serve`, if its key is in use.
    var localApp: ServerApp? { key == ServerApp.local.key ? .local : nil }

    /// What an option names goes before what the environment or the file name.
    var location: PusherHost {
        if let host { return .host(host) }
        if let cluster { return .cluster(cluster) }
        return switch settings.first(of: [.host, .cluster]) {
        case (.cluster, let name)?: .cluster(name)
        case (_, let name)?: .host(name)
        case nil: .host("127.0.0.1")
        }
    }

    /// The port to ask; `nil` for the scheme's own.
    var portToUse: Int? {
        port ?? settings[.port].flatMap { Int($0) } ?? (isHosted ? nil : 6001)
    }

    var usesTLS: Bool {
        tls ?? settings[.tls].flatMap(Setting.bool) ?? isHosted
    }

    private var isHosted: Bool {
        if case .cluster = location { true } else { false }
    }
}

/// Something went wrong that the user of the command must know of.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
