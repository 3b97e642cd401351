import Foundation
import Processes
import PusherChannels
import TestSupport

/// A server and a client in their own processes, with everything between them: a proxy in front of the server, one in front of
/// the authorization endpoint, and the feed.
final class Site: Sendable {
    /// The way in which the client reaches the server.
    enum Way: String, CaseIterable, Sendable {
        case plain
        case tls = "TLS"
    }

    let feed: Feed
    private let authority: CertificateAuthority?
    private let serverPort: Int
    private let frontPort: Int
    private let heldPorts: [Int32]
    private let server: Locked<Command>
    private let front: Locked<NetworkFaultProxy>
    let authServer: LocalServer
    let authFront: NetworkFaultProxy
    let client: Command
    let world: World
    private let tasks: [Task<Void, Never>]

    /// - Parameter isFollowed: Indicates whether the client keeps a copy of what the backend has.
    init(
        _ way: Way, world: World, interval: Duration = .milliseconds(10), asOtherUser: Bool = false, isFollowed: Bool = false
    ) async throws {
        self.world = world
        feed = Feed()
        let (held, heldFront) = (try HeldPort.take(), try HeldPort.take())
        heldPorts = [held.descriptor, heldFront.descriptor]
        let (server, port) = try await Command.server("--allow-host", world.host, port: held.port)
        (self.server, serverPort) = (Locked(server), port)
        authority = way == .tls ? try CertificateAuthority() : nil
        let front = try NetworkFaultProxy.start(
            to: "127.0.0.1", port: port, listeningPort: heldFront.port,
            tls: try authority.map { try Self.tls($0, host: world.host) })
        (self.front, frontPort) = (Locked(front), front.port)
        authServer = try await LocalServer.start()
        authServer.router["/number"] = JSONResponse { [feed] _ in await feed.committed }
        authFront = try NetworkFaultProxy.start(to: "127.0.0.1", port: authServer.port)
        var arguments = ["--host", world.host, "--port", String(front.port), "--auth-endpoint", "\(authFront.url)/pusher/auth"]
        if asOtherUser { arguments.append("--as-other-user") }
        if isFollowed { arguments += ["--backend", "\(authServer.url)/number"] }
        if let authority { arguments += ["--ca-file", try authority.file().path] }
        client = try Command(
            program: try Command.own(), ["client"] + arguments + FeedEvent.channels, environment: world.environment)
        tasks = [
            Task { [feed] in await Publisher(feed: feed, port: port, interval: interval).run() },
            Task { [feed, client] in
                while let line = await client.output.next() {
                    if let heard = try? Heard(line: line) { await feed.hear(heard) }
                }
            },
        ]
    }

    func stop() async {
        tasks.forEach { $0.cancel() }
        client.signal(SIGKILL)
        server.withLock { $0 }.signal(SIGKILL)
        front.withLock { $0 }.stop()
        authFront.stop()
        await authServer.stop()
        heldPorts.forEach { close($0) }
    }

    private static func tls(_ authority: CertificateAuthority, host: String, flaw: CertificateAuthority.Flaw? = nil) throws
        -> ServerTLS
    {
        .certificate(try authority.issue(names: ["localhost", host], flaw: flaw))
    }

    // MARK: Actions

    /// Keeps a fault in effect for some time.
    func hold(_ time: Duration) async throws {
        let clock = ContinuousClock()
        try await clock.sleep(for: time)
    }

    /// Waits until the client reports this state of its connection.
    func clientIs(_ connection: String) async {
        await feed.wait { $0.connection == connection }
    }

    /// Puts the client's clock forward or back.
    func setClock(ahead seconds: Int) async throws {
        try world.setClock(ahead: seconds)
        await feed.clientsClockIs(ahead: Double(seconds))
    }

    var proxy: NetworkFaultProxy { front.withLock { $0 } }

    /// Makes a fault act on the client's current connection.
    func injectNow(_ fault: Fault) throws {
        try proxy.inject(fault, onConnection: proxy.connectionCount)
    }

    /// Restores everything to its initial state.
    func heal() async throws {
        proxy.heal()
        authFront.heal()
        try world.setNames(found: true)
        try await setClock(ahead: 0)
    }

    func suspendServer(_ time: Duration) async throws {
        server.withLock { $0 }.signal(SIGSTOP)
        try await hold(time)
        server.withLock { $0 }.signal(SIGCONT)
    }

    /// Ends the server with a signal, and waits until it has exited.
    func endServer(_ signal: Int32) async {
        let server = server.withLock { $0 }
        server.signal(signal)
        _ = await server.end()
    }

    func startServer() async throws {
        let started = try await Command.server("--allow-host", world.host, port: serverPort).command
        server.withLock { $0 = started }
    }

    /// Closes the port to which the client connects.
    func closeFront() {
        proxy.stop()
    }

    /// Opens the client's port again, in front of the server or of another one at `port`.
    func openFront(to port: Int? = nil, flaw: CertificateAuthority.Flaw? = nil, trusted: Bool = true) throws {
        proxy.stop()
        let tls = try authority.map { authority in
            try Self.tls(trusted ? authority : CertificateAuthority(), host: world.host, flaw: flaw)
        }
        let started = try NetworkFaultProxy.start(
            to: "127.0.0.1", port: port ?? serverPort, listeningPort: frontPort, tls: tls)
        front.withLock { $0 = started }
    }
}

extension Command {
    /// Returns the path of the running program.
    static func own() throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }
}
