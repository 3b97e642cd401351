#if os(Linux)
import Processes
import PusherChannels
import TestSupport
import Testing

/// A client in the live environment: libwebsockets and the system's clock. It only reconnects sooner than a service would, and
/// waits for each reply as long as a busy machine may take.
struct LiveClient: Sendable {
    let pusher: Pusher
    let recorder: RecordingDelegate

    init(
        port: Int, host: String = "127.0.0.1", key: String = "local-key", auth: AuthMethod = .noMethod,
        userAuth: UserAuthMethod = .noMethod, autoReconnect: Bool = true, protocol: PusherProtocol = .pusher
    ) {
        var options = PusherClientOptions(
            authMethod: auth, userAuthMethod: userAuth, autoReconnect: autoReconnect, host: .host(host), port: port,
            useTLS: false,
            timeouts: .patient,
            reconnectPolicy: ReconnectPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(100)))
        options.protocol = `protocol`
        pusher = Pusher(
            key: key, options: options,
            environment: PusherEnvironment(
                httpSession: NetworkHTTPSession(loop: .patient), makeWebSocket: { NetworkWebSocket(loop: .patient) }))
        recorder = RecordingDelegate(of: pusher)
    }

    /// Creates a client of a local server that calls the server's own endpoint, or another path of it.
    init(
        of server: LocalServer, key: String = "local-key", authPath: String = "/pusher/auth", autoReconnect: Bool = true,
        protocol: PusherProtocol = .pusher
    ) {
        self.init(
            port: server.port, key: key, auth: .endpoint(authEndpoint: "\(server.url)\(authPath)"),
            userAuth: .endpoint("\(server.url)/pusher/user-auth"), autoReconnect: autoReconnect, protocol: `protocol`)
    }

    @discardableResult
    func next(
        where isWanted: @escaping @Sendable (RecordingDelegate.Notification) -> Bool = { _ in true }
    ) async throws -> RecordingDelegate.Notification {
        try await recorder.next(within: .seconds(Patience.seconds), where: isWanted)
    }

    func connect() async throws {
        pusher.connect()
        try await next { $0 == .state(.connected) }
    }

    @discardableResult
    func subscribe(_ channel: String) async throws -> PusherChannel {
        let result = pusher.subscribe(channel)
        try await next { $0 == .subscribed(channel: channel) }
        return result
    }

    func error() async throws -> PusherError {
        while true {
            if let error = try await next().failure { return error }
        }
    }

    func expectError(_ kind: PusherError.Kind, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let error = try await error()
        #expect(error.kind == kind, sourceLocation: sourceLocation)
    }

    /// Waits for an event with a name, and returns its data.
    func event(_ name: String) async throws -> String? {
        guard
            case .event(_, _, let data, _) = try await next(where: {
                if case .event(name, _, _, _) = $0 { true } else { false }
            })
        else { return nil }
        return data
    }
}

/// Runs `body` with a client that is connected to a server of its own, and ends it rather than wait for ever.
func withLiveClient(_ body: @escaping @Sendable (LiveClient, LocalServer) async throws -> Void) async throws {
    let server = try await LocalServer.start()
    try await withWatchdog {
        let client = LiveClient(of: server)
        try await client.connect()
        try await body(client, server)
    }
    await server.stop()
}
#endif
