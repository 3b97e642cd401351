import ArgumentParser
import PusherChannels

/// The options for a client's route to the server.
struct RouteOptions: ParsableArguments {
    @Option(help: "A PEM file of certificate authorities to trust instead of the system's.")
    var caFile: String?

    @Option(
        help: """
            The HTTP proxy to use, http://user:password@host:port, or none; by default that of $https_proxy and the like, where other \
            users don't see the password.
            """)
    var proxy: String?

    func validate() throws {
        // The value isn't repeated, because it may hold a password.
        guard parsedProxy != nil else { throw ValidationError("--proxy takes none, or http://user:password@host:port") }
    }

    var tls: TLSConfiguration {
        TLSConfiguration(roots: caFile.map { .only(.file($0)) } ?? .system)
    }

    var proxyConfiguration: ProxyConfiguration { parsedProxy ?? .environment }

    private var parsedProxy: ProxyConfiguration? {
        switch proxy {
        case nil: .environment
        case "none": ProxyConfiguration.none
        case let url?: HTTPProxy(url: url).map { .http($0) }
        }
    }
}
