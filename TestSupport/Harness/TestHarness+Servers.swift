/// A real server that a harness started.
protocol StartedServer: Sendable {
    var findings: [Finding] { get }

    func stop() async
}

#if LocalServer
extension LocalServer: StartedServer {}

extension TestHarness {
    /// Starts a real server, on the loopback interface unless another address is named, such as `0.0.0.0` for all; ``withTestHarness(apps:seed:profile:allowing:file:line:_:)`` stops it.
    ///
    /// - Throws: ``LocalServer/CannotListen``.
    public func startServer(
        host: String = "127.0.0.1", apps: [ServerApp] = [.local], profile: ServerProfile = .hosted,
        settings: LocalServer.Settings = .init(),
        tls: ServerTLS? = nil
    ) async throws(LocalServer.CannotListen) -> LocalServer {
        var settings = settings
        settings.onEvent = { [timeline, onEvent = settings.onEvent] event in
            timeline.note("server", "\(event)")
            onEvent(event)
        }
        let server = try await LocalServer.start(
            host: host, apps: apps, profile: profile, seed: seed, settings: settings, tls: tls)
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
