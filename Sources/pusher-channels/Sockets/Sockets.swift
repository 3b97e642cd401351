import ArgumentParser
import PusherChannels

/// The measurements of `ci/measure/transport`; of no use to users of the command.
struct Sockets: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The client's part of ci/measure/transport.",
        shouldDisplay: false,
        subcommands: [ReceiveMessages.self, HoldSockets.self, HoldClients.self, ReleaseClients.self])
}

/// The server that the sockets connect to, which is on this machine.
struct SocketOptions: ParsableArguments {
    @Option(help: "The server's port.")
    var port: Int

    @Option(help: "The certificate to trust, in a PEM file; without it there is no TLS.")
    var certificate: String?

    /// The request that opens a socket.
    var request: WebSocketRequest {
        WebSocketRequest(
            secure: certificate != nil, host: "127.0.0.1", port: port, path: "/",
            tls: TLSConfiguration(roots: certificate.map { .only(.file($0)) } ?? .system), proxy: .none)
    }
}
