import ArgumentParser
import Foundation
import PusherChannels

/// The options for a client's route to the server.
struct RouteOptions: ParsableArguments {
    @Option(help: "A PEM file of certificate authorities to trust instead of the system's.", completion: .file())
    var caFile: String?

    @Option(
        help: """
            The HTTP proxy to use, http://user:password@host:port, or none; by default that of $https_proxy and the like, where other \
            users don't see the password.
            """,
        completion: .list(["none"]))
    var proxy: String?

    func validate() throws {
        // The value isn't repeated, because it may hold a password.
        guard parsedProxy != nil else { throw ValidationError("--proxy takes none, or http://user:password@host:port") }
        guard let caFile else { return }
        let name = caFile.onOneLine
        guard let text = FileManager.default.contents(atPath: caFile) else {
            throw ValidationError("--ca-file: \(name) can't be read")
        }
        guard text.range(of: Data("CERTIFICATE-----".utf8)) != nil else {
            throw ValidationError("--ca-file takes a PEM file: \(name) has no certificate")
        }
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
