#if LocalServer
import Foundation
import PusherChannels

/// A Channels server on this machine, for development and tests. It uses real sockets, but no network unless it is asked to
/// listen there.
///
/// It is a single process that knows no other servers and keeps no data when it ends. To serve apps, use the hosted service or a
/// server of your own. It serves the WebSocket protocol at `/app/{key}`, the HTTP API at `/apps/…`, an authorization endpoint at
/// `/pusher/auth`, and any paths that a test adds to ``router``. All members may be called from any thread.
public final class LocalServer: RequestStubbing {
    /// Something that happened at a server.
    public enum Event: Equatable, Sendable, CustomStringConvertible {
        /// A notice of the server's protocol logic.
        case notice(ServerMachine.Notice)
        /// A plain HTTP request got a response. For an error, `reason` is the first line of the response, without secrets.
        case request(RecordedRequest, status: Int, reason: String? = nil)
        /// A webhook got a response with a status, or none because of a failure. Without a 2xx status it is sent again.
        case webhook(ServerMachine.Webhook, status: Int?, failure: String?)

        /// One line for a log, without secrets. Text from strangers can't start a new line or control a terminal.
        public var description: String {
            switch self {
            case .notice(let notice): notice.description
            case .request(let request, let status, let reason):
                "\(request.method.inLogLine()) \(request.path.inLogLine()) \(status)"
                    + (reason.map { ": \($0.inLogLine())" } ?? "")
            case .webhook(let webhook, let status, let failure):
                "webhook with \(webhook): " + (status.map { "\($0)" } ?? failure ?? "")
            }
        }
    }

    /// The settings of a server.
    public struct Settings: Sendable {
        /// The clock for ``ServerProfile/idleTimeout`` and webhooks.
        public var scheduler: any Scheduler
        /// The wall clock that the HTTP API's signatures are checked against.
        public var wallClock: @Sendable () -> Date
        /// The time that a client has to reply to a close frame before the connection is cut. A client that reads slowly has
        /// longer for messages that still wait to be sent: ten times as long, and at least ten seconds.
        public var closeTimeout: Duration
        /// The session that sends webhooks.
        public var httpSession: any HTTPSession
        /// Indicates whether the server doesn't record requests, and refuses any that is larger than ``bodyLimit``. This is for a
        /// server that runs for a long time and isn't inspected afterwards.
        package var isForgetful = false
        /// The largest number of bytes of a request's body or a message at a forgetful server; `nil` for the HTTP API's largest.
        package var bodyLimit: Int?
        /// The names under which the server may be asked for; `nil` for any, as in tests.
        package var allowedHosts: AllowedHosts?
        /// A closure that adds routes before the server listens, for clients that may come at once.
        package var addRoutes: @Sendable (Router) -> Void = { _ in }
        /// A closure that is called for everything that happens, one event after the other, on any thread.
        public var onEvent: @Sendable (Event) -> Void

        /// Creates settings.
        public init(
            scheduler: any Scheduler = LiveScheduler(), wallClock: @escaping @Sendable () -> Date = { Date() },
            closeTimeout: Duration = .seconds(1), httpSession: any HTTPSession = PusherEnvironment.live.httpSession,
            onEvent: @escaping @Sendable (Event) -> Void = { _ in }
        ) {
            self.scheduler = scheduler
            self.wallClock = wallClock
            self.closeTimeout = closeTimeout
            self.httpSession = httpSession
            self.onEvent = onEvent
        }
    }

    /// An error that is thrown when a server can't listen.
    public struct CannotListen: Error, Equatable, Sendable, CustomStringConvertible {
        /// The address to listen on.
        public let host: String
        /// The port to listen on.
        public let port: Int
        /// The system's reason.
        public let reason: String

        /// Names the port and the reason.
        public var description: String { "can't listen on \(host):\(port): \(reason)" }
    }

    /// The address by which clients on this machine reach the server: the one it listens on, or `127.0.0.1` if it listens on all.
    public let host: String
    /// The addresses of this machine that the server listens on, starting with those that other machines and devices reach.
    public let addresses: [String]
    /// The port it listens on.
    public let port: Int
    /// The server's address for requests, `http://127.0.0.1:49152`; `https` with TLS.
    public let url: URL
    /// The server's address for sockets, `ws://127.0.0.1:49152`, with TLS `wss`; clients add `/app/{key}`.
    public let webSocketURL: URL
    /// The root authority of the server's certificate; `nil` without TLS.
    public let certificateAuthority: CertificateAuthority?
    /// The paths that the test adds.
    public let router: Router

    /// The paths whose requests are neither recorded nor reported, such as those that a browser requests again and again. They
    /// come first.
    package let unrecordedRouter: Router

    let core: LocalServerCore
    private let thread: ServerThread
    private let stopping = Locked<Task<Void, Never>?>(nil)

    /// The proxy that speaks TLS in front of the server.
    private let tlsProxy: NetworkFaultProxy?

    private init?(host listening: String, handler: LocalServerHandler, thread: ServerThread, tlsProxy: NetworkFaultProxy?) {
        let host = SocketAddress.local(for: listening)
        port = tlsProxy?.port ?? thread.port
        guard let url = tlsProxy?.url ?? URL(string: "http://\(host):\(port)"),
            let webSocketURL = tlsProxy?.webSocketURL ?? URL(string: "ws://\(host):\(port)")
        else { return nil }
        self.host = host
        addresses = SocketAddress.reachable(at: listening)
        self.url = url
        self.webSocketURL = webSocketURL
        certificateAuthority = tlsProxy?.certificateAuthority
        router = handler.router
        unrecordedRouter = handler.unrecordedRouter
        core = handler.core
        self.thread = thread
        self.tlsProxy = tlsProxy
    }

    /// Starts a server, which listens when this returns.
    ///
    /// - Parameters:
    ///   - host: The address to listen on. Other machines and devices reach the server only if this is an address of the network,
    ///     or `0.0.0.0`, which stands for all addresses. Then anybody there may use the server.
    ///   - port: The port to listen on; 0 takes a free one.
    ///   - apps: The apps that clients may connect to.
    ///   - profile: The server to imitate.
    ///   - seed: The seed of socket ids, which makes them the same each time. Without one they are random, as a real server's
    ///     are: a signature for one connection is never valid after a restart.
    ///   - settings: The server's settings.
    ///   - tls: The TLS settings; `nil` for no TLS. On Linux only.
    /// - Throws: ``CannotListen``, at once, for example for a port that is taken, or for TLS on a platform that doesn't have it.
    public static func start(
        host: String = "127.0.0.1", port: Int = 0, apps: [ServerApp] = [.local], profile: ServerProfile = .hosted,
        seed: UInt64? = nil, settings: Settings = Settings(), tls: ServerTLS? = nil
    ) async throws(CannotListen) -> LocalServer {
        let machine = ServerMachine(apps: apps, profile: profile, seed: seed ?? .random(in: 0 ... .max))
        let handler = LocalServerHandler(core: LocalServerCore(machine: machine, settings: settings, isSecure: tls != nil))
        settings.addRoutes(handler.router)
        let thread = try ServerThread(host: tls == nil ? host : "127.0.0.1", port: tls == nil ? port : 0, handler.terms)
        var reason = "It has no address"
        do throws(NetworkFaultProxy.CannotStart) {
            let proxy = try tls.map { tls throws(NetworkFaultProxy.CannotStart) in
                try NetworkFaultProxy.start(
                    to: "127.0.0.1", port: thread.port, listeningHost: host, listeningPort: port, tls: tls)
            }
            if let server = LocalServer(host: host, handler: handler, thread: thread, tlsProxy: proxy) { return server }
        } catch {
            reason = error.reason
        }
        throw CannotListen(host: host, port: port, reason: reason)
    }

    // MARK: Observations

    /// The stubs, which reply before ``router`` does.
    public var stubList: StubList { core.stubs }

    /// The latest 10,000 plain requests that the server received, in order. Upgrades to WebSockets are not among them.
    public var recorder: RequestRecorder { core.recorder }

    /// The findings for a test's end: requests that matched nothing, stubs and routes that weren't used, routes that threw,
    /// faults that a server doesn't support, and published events that no backend could have published or that reached nobody. A
    /// ``TestHarness`` checks them.
    public var findings: [Finding] { core.findings + router.findings }

    /// The environment variables by which a child process finds the server: `PUSHER_HOST`, `PUSHER_PORT`, `PUSHER_TLS` (0 or 1),
    /// and the first app's `PUSHER_APP_ID`, `PUSHER_KEY` and `PUSHER_SECRET`. With TLS, also `SSL_CERT_FILE`, which makes
    /// programs that use OpenSSL trust the server's certificate.
    public var environment: [String: String] {
        var environment = ["PUSHER_HOST": host, "PUSHER_PORT": "\(port)", "PUSHER_TLS": tlsProxy == nil ? "0" : "1"]
        let app = core.ask { $0.apps.first }
        environment["SSL_CERT_FILE"] = (try? certificateAuthority?.file())?.path
        environment["PUSHER_APP_ID"] = app?.id
        environment["PUSHER_KEY"] = app?.key
        environment["PUSHER_SECRET"] = app?.secret
        return environment
    }

    /// The connections that are open now.
    public var connections: [ServerMachine.ConnectionInfo] { core.connections }

    /// The connections subscribed to a channel.
    public func subscribers(of channel: String) -> [ServerMachine.ConnectionID] {
        core.ask { $0.subscribers(of: channel) }
    }

    // MARK: Faults

    /// Injects a fault, which acts until ``heal()``.
    ///
    /// A refused upgrade and a wrong key affect future connections. A frame is sent at once to all open connections, and to each
    /// later one after the server's greeting, or as the first one to a client of a route of ``router``. For network faults, use
    /// ``NetworkFaultProxy``.
    ///
    /// - Throws: ``UnsupportedFault`` for a fault that ``Fault/Seam/localServer`` doesn't support.
    public func inject(_ fault: Fault) throws(UnsupportedFault) {
        try fault.check(at: .localServer)
        core.inject(fault)
    }

    /// Removes all faults.
    public func heal() {
        core.heal()
    }

    // MARK: Actions

    /// Publishes an event as an app's backend does, in every app unless a key is given.
    ///
    /// An event that a backend could not publish isn't sent and becomes one of the ``findings``: one that is too large, has an
    /// invalid name, or is for an encrypted channel of an app without a master key.
    ///
    /// - Parameters:
    ///   - channel: The channel's name.
    ///   - event: The event's name.
    ///   - data: The event's data, usually JSON text; subscribers receive it as a JSON string.
    ///   - appKey: The key of the app to publish in; `nil` for all apps.
    ///   - file: The file of the call, for reports; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    /// - Returns: The number of connections that the event is sent to. An event that is sent to nobody becomes one of the
    ///   ``findings``, unless a cache channel keeps it.
    @discardableResult
    public func publish(
        channel: String, event: String, data: String, appKey: String? = nil, file: String = #fileID, line: Int = #line
    ) -> Int {
        let (receivers, finding) = core.change { machine, _ in
            machine.publish(
                channel: channel, event: event, data: data, appKey: appKey, location: sourceLocation(file, line))
        }
        if let finding { core.find(finding) }
        return receivers
    }

    /// Starts sending webhooks to the apps' backends. If the profile's server sends none, that is one of the ``findings``.
    ///
    /// - Parameters:
    ///   - url: The address that receives the webhooks.
    ///   - kinds: The kinds of events that are sent.
    ///   - appKey: The key of the app; `nil` for all apps.
    public func sendWebhooks(
        to url: String, kinds: Set<WebhookKind> = Set(WebhookKind.allCases), appKey: String? = nil
    ) {
        let finding = core.change { machine, _ in
            machine.addWebhook(ServerApp.WebhookEndpoint(url, kinds: kinds), appKey: appKey)
            return machine.finding(ofWebhooksTo: url)
        }
        if let finding { core.find(finding) }
    }

    /// Closes one connection with a close frame.
    public func close(_ connection: ServerMachine.ConnectionID, code: UInt16, reason: String = "") {
        core.change { machine, _ in machine.close(connection, code: code, reason: reason) }
    }

    /// Indicates whether new connections are told that the server is closing, and closed, as by a server that takes long to stop.
    /// ``closeAll(code:reason:)`` closes those that there are.
    public var isClosing: Bool {
        get { core.ask(\.isClosing) }
        set { core.change { machine, _ in machine.isClosing = newValue } }
    }

    /// Indicates whether what is published on a node of Sockudo's reaches the connections of the others (``ServerProfile/SockudoV2/nodes``).
    public var nodesHearEachOther: Bool {
        get { core.ask(\.nodesHearEachOther) }
        set { core.change { machine, _ in machine.nodesHearEachOther = newValue } }
    }

    /// Forgets the streams of Sockudo's protocol V2, as a restart does; those of all channels unless one is named.
    public func loseStreams(of channel: String? = nil) {
        core.change { machine, _ in machine.loseStreams(of: channel) }
    }

    /// Closes all connections with a close frame; the server keeps running.
    public func closeAll(code: UInt16, reason: String = "") {
        core.closeAll(code: code, reason: reason)
    }

    /// Waits until the server no longer listens. Returns the reason, such as a forgetful server's lack of descriptors; `nil` if it
    /// was stopped.
    package func end() async -> String? {
        await thread.end()
    }

    /// Closes all connections and frees the port; further calls wait for the first.
    ///
    /// Clients get the close frame of the profile and have ``Settings/closeTimeout`` to reply to it. The tasks of
    /// routes are cancelled. A route that is still running after ten seconds becomes one of the ``findings``, and isn't waited
    /// for.
    public func stop() async {
        let task = stopping.withLock { stopping in
            let task =
                stopping
                ?? Task { [core, thread, router, tlsProxy] in
                    await core.stop()
                    // A route that is still running keeps its connection, but not the port.
                    let goingOn = await ServerEnd.wait {
                        await thread.drain()
                    } unless: {
                        router.goingOn
                    }
                    thread.stop()
                    for name in goingOn { core.find(Finding(.leak, "\(name) goes on, though its task is cancelled")) }
                    tlsProxy?.stop()
                }
            stopping = task
            return task
        }
        await task.value
    }
}
#endif
