import ArgumentParser
import Logging
import PusherChannels

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check each step of connecting to a server, and say how to fix the one that fails.",
        discussion: """
            Opens one connection as a client does. With a secret, an authorization endpoint, or the key of serve's app, it also \
            subscribes to a channel that needs an authorization. Prints the steps, and how long they took: \
            \(DoctorStep.allCases.map(\.rawValue).joined(separator: ", ")).

            \(Status.text)
            """)

    @Argument(help: ArgumentHelp("The server's host name or address, like --host.", valueName: "host"))
    var givenHost: String?

    @OptionGroup var client: ClientOptions

    @Option(help: "The channel to subscribe to, if there is something to authorize it with.")
    var channel = "private-doctor"

    @Flag(help: "Print one JSON object per step: step, result (ok, failed, skipped, untested), detail, advice, milliseconds.")
    var json = false

    func validate() throws {
        if givenHost != nil, client.server.host != nil || client.server.cluster != nil {
            throw ValidationError("give the host once: by itself, by --host or by --cluster")
        }
        if let givenHost, let problem = ServerOptions.problem(ofHost: givenHost) { throw ValidationError("<host> \(problem)") }
        guard ChannelName(channel).needsAuthorization else {
            throw ValidationError("--channel takes one that needs an authorization, such as private-orders")
        }
        try clientToTry.validate(authorizes ? [channel] : [])
    }

    func run() async throws {
        let clock = DoctorClock()
        let (route, error) = await examine(clock)
        let step = error.map { DoctorStep(failedWith: $0, isEstablished: clock.durations[.protocol] != nil) }
        if let step { clock.end(step) }
        for line in DoctorReport(route, error, at: step, clock.durations).lines {
            output(json ? line.jsonLine : line.text(on: .output))
        }
        if let error { throw Status.of(error) }
    }

    private var authorizes: Bool { client.authMethod != nil }

    private var clientToTry: ClientOptions {
        var client = client
        if let givenHost { client.server.host = givenHost }
        return client
    }

    private func examine(_ clock: DoctorClock) async -> (DoctorRoute, PusherError?) {
        let (server, route) = (clientToTry.server, client.route)
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
        return (way, await firstError(clock))
    }

    /// Returns the error that ends the attempt; `nil` if all went well.
    private func firstError(_ clock: DoctorClock) async -> PusherError? {
        let environment = PusherEnvironment(makeWebSocket: { TimedWebSocket(clock) })
        let pusher = clientToTry.makePusher(log: SwiftLogNoOpLogHandler(), environment: environment) {
            $0.autoReconnect = false
            // Longer than all steps of a connection together: each has its own limit, whose error names the step.
            $0.timeouts = ConnectionTimeouts(open: .seconds(120))
            // Without this, a server that asks its clients to come back would be asked again and again.
            $0.reconnectPolicy = ReconnectPolicy(maximumRetries: 0)
        }
        let notifications = ClientNotifications()
        pusher.delegate = notifications
        let error = await firstError(notifications.stream, of: pusher, clock)
        await pusher.shutdown()
        return error
    }

    /// Connects, and returns the reasons for the delegate's changes of state, one for each.
    private func connect(_ pusher: Pusher) -> PusherStream<ConnectionStateChange>.AsyncIterator {
        let states = pusher.connectionStates(buffering: StreamBuffering(limit: .max, byteLimit: .max))
        pusher.connect()
        return states.makeAsyncIterator()
    }

    private func firstError(
        _ notifications: AsyncStream<ClientNotification>, of pusher: Pusher, _ clock: DoctorClock
    ) async -> PusherError? {
        var changes = connect(pusher)
        var serverError: PusherError?
        var mayTryAgain = true
        for await notification in notifications {
            switch notification {
            case .state(let state):
                let reason = (try? await changes.next())?.reason
                if state == .connected {
                    clock.end(.protocol)
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
            case .subscribed:
                clock.end(.subscription)
                return nil
            case .error(let error) where error.kind == .malformedMessage: return serverError ?? error
            // The channel's refusal follows it, or the connection's end.
            case .error(let error) where error.kind == .server: serverError = error
            case .subscriptionFailed(_, let error): return error
            case .error, .gap, .decryptionFailed, .event, .memberAdded, .memberRemoved, .interrupted, .signedIn, .webhook,
                .timeUp:
                break
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
