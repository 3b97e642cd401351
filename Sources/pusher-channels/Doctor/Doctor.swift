import ArgumentParser
import Logging
import PusherChannels

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check each step of connecting to a server, and say how to fix the one that fails.",
        discussion: """
            Opens one connection as a client does, and subscribes to a channel that needs an authorization if a secret or an \
            authorization endpoint is set. Prints the steps: \(DoctorStep.allCases.map(\.rawValue).joined(separator: ", ")).

            \(Status.text)
            """)

    @Argument(help: ArgumentHelp("The server's host name or address, like --host.", valueName: "host"))
    var givenHost: String?

    @OptionGroup var server: ServerOptions

    @OptionGroup var route: RouteOptions

    @Option(help: "A path prefix in front of the protocol's path.")
    var path: String?

    @OptionGroup var authorization: AuthorizationOptions

    @Option(help: "The channel to subscribe to, if a secret or an authorization endpoint is set.")
    var channel = "private-doctor"

    @Flag(help: "Print one JSON object per step: step, result (ok, failed, skipped, untested), detail, advice.")
    var json = false

    func validate() throws {
        if givenHost != nil, server.host != nil || server.cluster != nil {
            throw ValidationError("give the host once: by itself, by --host or by --cluster")
        }
        if let givenHost, let problem = ServerOptions.problem(ofHost: givenHost) { throw ValidationError("<host> \(problem)") }
        try serverToAsk.validateVariables(in: server.settings)
        guard ChannelName(channel).needsAuthorization else {
            throw ValidationError("--channel takes one that needs an authorization, such as private-orders")
        }
        try authorization.validate(with: server.settings)
        if authorizes, let problem = authorization.problem(of: channel, server.settings) { throw ValidationError(problem) }
    }

    func run() async throws {
        let (route, error) = await examine()
        for line in DoctorReport(route, error).lines { output(json ? line.json : line.text(on: .output)) }
        if let error { throw Status.of(error) }
    }

    private var authorizes: Bool {
        if case .noMethod = authorization.method(server.settings) { false } else { true }
    }

    private var serverToAsk: ServerOptions {
        var server = server
        if let givenHost { server.host = givenHost }
        return server
    }

    private func examine() async -> (DoctorRoute, PusherError?) {
        let server = serverToAsk
        let request = WebSocketRequest(
            secure: server.usesTLS, host: server.location.stringValue, port: server.portToUse ?? (server.usesTLS ? 443 : 80),
            path: "/",
            tls: route.tls, proxy: route.proxyConfiguration)
        let proxy: HTTPProxy?
        var problem: PusherError?
        do throws(TransportError) {
            proxy = try request.effectiveProxy
        } catch {
            (proxy, problem) = (nil, PusherError(.transport(error.kind), message: error.message))
        }
        let way = DoctorRoute(
            host: request.host, port: request.port, usesTLS: request.secure, proxy: proxy, channel: authorizes ? channel : nil)
        if let problem { return (way, problem) }
        note("connecting to \(way.endpoint.onOneLine)")
        return (way, await firstError(server))
    }

    /// Returns the error that ends the attempt; `nil` if all went well.
    private func firstError(_ server: ServerOptions) async -> PusherError? {
        let pusher = Pusher(
            key: server.key,
            options: PusherClientOptions(
                authMethod: authorization.method(server.settings), autoReconnect: false, host: server.location,
                port: server.portToUse, path: path,
                useTLS: server.usesTLS, tls: route.tls, proxy: route.proxyConfiguration,
                // Longer than all steps of a connection together: each has its own limit, whose error names the step.
                timeouts: ConnectionTimeouts(open: .seconds(120)),
                // Without this, a server that asks its clients to come back would be asked again and again.
                reconnectPolicy: ReconnectPolicy(maximumRetries: 0),
                logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }))
        let notifications = ClientNotifications()
        pusher.delegate = notifications
        if let userID = authorization.userID {
            pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userId: userID) }
        }
        let error = await firstError(notifications.stream, of: pusher)
        await pusher.shutdown()
        return error
    }

    /// Connects, and returns the reasons for the delegate's changes of state, one for each.
    private func connect(_ pusher: Pusher) -> PusherStream<ConnectionStateChange>.AsyncIterator {
        let states = pusher.connectionStates(buffering: StreamBuffering(limit: .max, byteLimit: .max))
        pusher.connect()
        return states.makeAsyncIterator()
    }

    private func firstError(_ notifications: AsyncStream<ClientNotification>, of pusher: Pusher) async -> PusherError? {
        var changes = connect(pusher)
        var serverError: PusherError?
        var mayTryAgain = true
        for await notification in notifications {
            switch notification {
            case .state(let state):
                let reason = (try? await changes.next())?.reason
                if state == .connected {
                    guard authorizes else { return nil }
                    mayTryAgain = false
                    pusher.subscribe(channel)
                } else if state == .disconnected {
                    // The client's error says more if the next attempt ends in the same way.
                    guard mayTryAgain, serverError == nil, reason?.isLossOfConnection == true else {
                        return serverError ?? reason ?? PusherError(.transport(.connectionLost), message: "the connection ended")
                    }
                    mayTryAgain = false
                    changes = connect(pusher)
                }
            case .subscribed: return nil
            case .error(let error) where error.kind == .malformedMessage: return serverError ?? error
            // The channel's refusal follows it, or the connection's end.
            case .error(let error) where error.kind == .server: serverError = error
            case .subscriptionFailed(_, let error): return error
            case .error, .gap, .decryptionFailed, .event, .memberAdded, .memberRemoved, .interrupted: break
            }
        }
        return nil
    }
}

extension PusherError {
    /// Indicates whether the connection was made and then lost.
    fileprivate var isLossOfConnection: Bool {
        kind == .transport(.connectionLost) && DoctorStep(failedWith: self) == .protocol
    }
}
