import ArgumentParser
import Foundation
import PusherChannels
import TestSupport

/// The server to use, from the options; otherwise from the environment, the configuration file, or the defaults of a local
/// server.
struct ServerOptions: ParsableArguments {
    @OptionGroup var configuration: SettingsOptions

    // New clusters come, so these are only suggestions.
    @Option(
        help: "The cluster of the hosted service, such as eu; $PUSHER_CLUSTER.",
        completion: .list(["ap1", "ap2", "ap3", "ap4", "eu", "mt1", "sa1", "us2", "us3"]))
    var cluster: String?

    @Option(help: "The host name or address of your own server; $PUSHER_HOST, by default 127.0.0.1.")
    var host: String?

    @Option(
        help: """
            The server's port; $PUSHER_PORT, by default 6001, or for a cluster its own. If an option names the server, $PUSHER_PORT and \
            $PUSHER_TLS are ignored: they belong to another server.
            """)
    var port: Int?

    @Flag(inversion: .prefixedNo, help: "Use TLS; 1 or 0 in $PUSHER_TLS. By default only for a cluster.")
    var tls: Bool?

    func validate() throws {
        if host != nil, cluster != nil { throw ValidationError("give --host or --cluster, not both") }
        if let cluster { try Setting.cluster.validate(cluster, isOption: true) }
        if let host, let problem = Self.problem(ofHost: host) { throw ValidationError("--host \(problem)") }
        if let port { try Setting.port.validate(String(port), isOption: true) }
    }

    /// Returns the reason why an option's text isn't a host; `nil` if it is one.
    static func problem(ofHost text: String) -> String? {
        Setting.host.requirement(unmetBy: text).map { $0 + ": use --port for the port" }
    }

    /// Checks the variables that are in use; one that an option overrides may be anything. The file's values were checked when it
    /// was read.
    func validateVariables(in settings: Settings) throws {
        if host == nil, cluster == nil, settings.environmentHas([.host, .cluster]) {
            throw ValidationError("set $PUSHER_HOST or $PUSHER_CLUSTER, not both")
        }
        let serverInUse = host == nil && cluster == nil ? settings.first(of: [.cluster, .host]) : nil
        let valuesInUse = [
            (serverInUse?.setting ?? .host, serverInUse?.value),
            (.port, port == nil ? value(of: .port, settings) : nil),
            (.tls, tls == nil ? value(of: .tls, settings) : nil),
        ]
        for case (let setting, let value?) in valuesInUse { try setting.validate(value, isOption: false) }
    }

    var settings: Settings { configuration.settings }

    var key: String { configuration.key }

    var localApp: ServerApp? { configuration.localApp }

    var location: PusherHost { location(settings) }

    /// The port to use; `nil` for the scheme's default.
    var portToUse: Int? { portToUse(settings) }

    var usesTLS: Bool { usesTLS(settings) }

    /// Returns the server's location. Options take precedence over the environment, and the environment over the file.
    func location(_ settings: Settings) -> PusherHost {
        if let host { return .host(host) }
        if let cluster { return .cluster(cluster) }
        return switch settings.first(of: [.cluster, .host]) {
        case (.cluster, let name)?: .cluster(name)
        case (_, let name)?: .host(name)
        case nil: .host("127.0.0.1")
        }
    }

    func portToUse(_ settings: Settings) -> Int? {
        port ?? value(of: .port, settings).flatMap { Int($0) } ?? (isHosted(settings) ? nil : 6001)
    }

    func usesTLS(_ settings: Settings) -> Bool {
        tls ?? value(of: .tls, settings).flatMap(Setting.bool) ?? isHosted(settings)
    }

    /// Returns a setting of the server that the environment or the file names. A port says nothing about another server, which an
    /// option may name, or the environment if the port comes from the file.
    private func value(of setting: Setting, _ settings: Settings) -> String? {
        host == nil && cluster == nil ? settings.value(of: setting, belongingTo: [.host, .cluster]) : nil
    }

    private func isHosted(_ settings: Settings) -> Bool {
        if case .cluster = location(settings) { true } else { false }
    }
}
