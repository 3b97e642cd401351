import PusherChannels

/// A part of a harness that listens on a port.
protocol Listening: Sendable {
    var host: String { get }
    var port: Int { get }
    var addresses: [String] { get }
}

extension Listening {
    /// The finding that a socket in memory was opened to this: its client is one of the server in memory, wherever it is told to go.
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
    /// Starts a real server, on the loopback interface unless another address is named, such as `0.0.0.0` for all;
    /// ``withTestHarness(apps:seed:profile:allowing:file:line:_:)`` stops it.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port to listen on, such as that of a server that was stopped; 0 takes a free one.
    ///   - apps: The apps that clients may connect to; `nil` for those that the harness was given, or else ``ServerApp/local``.
    ///   - profile: Which server it imitates; `nil` for the one that ``TestHarness/server`` does.
    ///   - settings: Its settings.
    ///   - tls: Has the server speak TLS; `nil` for none. On Linux only.
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
        // A connection to a server that was started again has another id, so that a signature for an earlier one is none for it.
        let server = try await LocalServer.start(
            host: host, port: port, apps: apps ?? self.apps, profile: profile ?? self.profile,
            seed: seed &+ UInt64(startedServers), settings: settings, tls: tls)
        keep(server)
        return server
    }

    /// Starts a proxy in front of a server that breaks connections; it is stopped with the harness's servers.
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
