import PusherChannels

/// A part of a harness that listens on a port.
protocol Listening: Sendable {
    var host: String { get }
    var port: Int { get }
    var addresses: [String] { get }
}

extension Listening {
    /// Returns the finding that an in-memory socket was opened to this address. Its client always connects to the in-memory
    /// server, whatever address it is given.
    func missed(by socket: SocketFindings.Socket) -> Finding? {
        let hosts = [host, "localhost"] + addresses
        guard let request = socket.requests.first(where: { $0.port == port && hosts.contains($0.host) }) else { return nil }
        return Finding(
            .error,
            "\(socket.name) is in memory, and reached the server there in the place of the \(Self.self) at "
                + "\(request.host):\(port); make a client for that with Pusher(key:options:)")
    }
}

extension NetworkFaultProxy: Listening {
    var addresses: [String] { [] }
}

/// A real server that a harness started.
protocol StartedServer: Listening {
    var findings: [Finding] { get }

    func stop() async
}

#if LocalServer
extension LocalServer: StartedServer {}

extension TestHarness {
    /// Starts a real server. It listens on the loopback interface unless another address is given, such as `0.0.0.0` for all
    /// interfaces. ``withTestHarness(apps:seed:profile:allowing:stuckAfter:file:line:_:)`` stops it.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port to listen on, such as that of a server that was stopped; 0 takes a free one.
    ///   - apps: The apps that clients may connect to; `nil` for those of the harness, or ``ServerApp/local`` if it was given
    ///     none.
    ///   - profile: The server to imitate; `nil` for the one that ``TestHarness/server`` imitates.
    ///   - settings: The server's settings.
    ///   - tls: The server's TLS configuration; `nil` for no TLS. On Linux only.
    /// - Throws: ``LocalServer/CannotListen``.
    public func startServer(
        host: String = "127.0.0.1", port: Int = 0, apps: [ServerApp]? = nil, profile: ServerProfile? = nil,
        settings: LocalServer.Settings = .init(), tls: ServerTLS? = nil
    ) async throws(LocalServer.CannotListen) -> LocalServer {
        var settings = settings
        settings.onEvent = { [timeline, onEvent = settings.onEvent] event in
            timeline.note("server", "\(event)")
            onEvent(event)
        }
        // Use another seed for each server: connections to a restarted server must have other ids, so a signature for an earlier
        // one isn't valid.
        let server = try await LocalServer.start(
            host: host, port: port, apps: apps ?? self.apps, profile: profile ?? self.profile,
            seed: seed &+ UInt64(startedServers), settings: settings, tls: tls)
        keep(server)
        return server
    }

    /// Starts a proxy in front of a server to break its connections; the proxy is stopped with the harness's servers.
    ///
    /// - Throws: ``NetworkFaultProxy/CannotStart``.
    public func startProxy(
        to server: LocalServer, faults: [Fault] = []
    ) throws(NetworkFaultProxy.CannotStart) -> NetworkFaultProxy {
        let proxy = try NetworkFaultProxy.start(to: server.host, port: server.port, faults: faults)
        keep(proxy)
        return proxy
    }
}
#endif
