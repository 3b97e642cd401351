import ArgumentParser
import Dispatch
import Foundation
import PusherChannels
import TestSupport

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a local Channels server until SIGINT, SIGTERM or SIGHUP, for development and tests.",
        discussion: """
            WebSocket on /app/KEY, authorization on POST /pusher/auth and /pusher/user-auth, the HTTP API on /apps/ID. On / a page for a \
            browser on this machine: connections, channels and events, live, and a form to publish. The page shows no secrets, but \
            it does show the decrypted data of encrypted channels. GET /up answers as soon as the server listens.

            All of it is for programs and web pages on this machine: requests must be addressed to 127.0.0.1 or localhost, and those \
            of a browser must come from a page of one of these hosts, on any port. --allow-host and --allow-any-host let others in.

            With --record and --upstream it is no server, but stands in front of one: it passes all requests and WebSockets on, and \
            writes them to a file when it ends, as an HTTP archive (HAR) that browsers show and tests replay, without secrets. \
            An earlier recording stays if nothing came. Bodies of more than 16 MiB and answers that take more than a minute aren't \
            passed on. The options about an app, a profile, webhooks, a seed and the page mean nothing then.

            \(Status.text)
            """)

    @Option(help: "The port to listen on; 0 takes a free one.")
    var port = 6001

    @Option(help: "The app's id; it should be a number, because server libraries require one.")
    var appID = "1"

    @Option(help: "The app's key.")
    var key = "local-key"

    @Option(help: "The app's secret.")
    var secret = "local-secret"

    @Option(help: "The master key of encrypted channels: 32 bytes in base64.")
    var encryptionMasterKey = ServerApp.local.encryptionMasterKey ?? ""

    @Option(
        help: "The server to imitate: \(ServerProfile.byName.map(\.key).joined(separator: ", ")).",
        completion: .list(ServerProfile.byName.map(\.key)))
    var profile = "hosted"

    @Option(help: "An address that receives webhooks; may be given several times.")
    var webhook: [String] = []

    @Option(help: "A seed that makes socket ids the same at each start; by default they are random.")
    var seed: UInt64?

    @Flag(help: "Use TLS with a temporary authority, valid for a day. Prints the path of its certificate.")
    var tls = false

    @Flag(inversion: .prefixedNo, help: "Serve the live page at /.")
    var page = true

    @Option(
        help: """
            A host name, besides 127.0.0.1 and localhost, that requests may be addressed to, and whose web pages may use the server; \
            may be given several times. For a server behind something that forwards to it: whoever can reach that can use the \
            server, and publish on the page.
            """)
    var allowHost: [String] = []

    @Flag(help: "Print only what is refused or fails.")
    var quiet = false

    @Flag(help: "Serve requests to any host name, and from any web page that a browser on this machine shows.")
    var allowAnyHost = false

    @Option(help: "The file to record in what is passed on to --upstream.", completion: .file())
    var record: String?

    @Option(
        help: """
            The server to pass everything on to: http://HOST:PORT, https, ws or wss, without a path. May be given twice, if requests \
            go to one address (http or https) and WebSockets to another (ws or wss).
            """)
    var upstream: [String] = []

    @Flag(help: ArgumentHelp("End with standard input, for a process that starts the server for itself.", visibility: .hidden))
    var untilInputEnds = false

    func validate() throws {
        try validateListening(port, "--port")
        for address in webhook {
            // The requirements are those of an endpoint's address.
            if let requirement = Setting.authEndpoint.requirement(unmetBy: address) {
                throw ValidationError("--webhook \(requirement)")
            }
        }
        if allowAnyHost, !allowHost.isEmpty { throw ValidationError("give --allow-any-host or --allow-host, not both") }
        for name in allowHost where !Self.isHostName(name) {
            throw ValidationError("--allow-host takes only a host name, such as dev.example: no scheme, port or path")
        }
        try validateRecording()
        guard let imitated else {
            let known = ServerProfile.byName.map(\.key).joined(separator: ", ")
            throw ValidationError("There is no profile \(profile); the profiles are \(known).")
        }
        if !webhook.isEmpty, !imitated.sendsWebhooks { throw ValidationError("--webhook: \(profile) sends no webhooks") }
        try Setting.encryptionMasterKey.validate(encryptionMasterKey, isOption: true)
    }

    private func validateRecording() throws {
        guard record != nil || !upstream.isEmpty else { return }
        if record == nil { throw ValidationError("--upstream requires --record, the file to record in") }
        if upstream.isEmpty { throw ValidationError("--record requires --upstream, the server that is recorded") }
        guard let recorded = RecordingProxy.Upstream(upstream) else {
            throw ValidationError("--upstream takes http://HOST:PORT, https, ws or wss, and a second one only for the other kind")
        }
        if recorded.isHere(port: port) { throw ValidationError("--upstream is this server itself: give another --port") }
    }

    /// Returns whether a name has only the characters of names in the header field `Host`, in which other characters are encoded.
    private static func isHostName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Allows as many descriptors as possible, one for each connection, because a shell's default is far lower.
    private static func allowDescriptors() {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    /// Ends the server with its input, as a signal would.
    private func endWithInput() {
        let thread = Thread {
            var byte: UInt8 = 0
            var count = 1
            while count > 0 || count < 0 && errno == EINTR { count = read(STDIN_FILENO, &byte, 1) }
            kill(getpid(), SIGTERM)
        }
        thread.start()
    }

    private var imitated: ServerProfile? { ServerProfile.byName.first { $0.key == profile }?.value }

    func run() async throws {
        let (ends, end) = AsyncStream<String?>.makeStream()
        onInterruption { _ in end.yield(nil) }
        Self.allowDescriptors()
        // A slow or stopped reader of the notices holds up no client.
        let lines = LineWriter { note($0) }
        defer { lines.finish(within: .seconds(2)) }
        let notices = ServeNotices(lines, isQuiet: quiet)
        var settings = LocalServer.Settings(onEvent: { notices.add($0) })
        settings.isForgetful = true
        if !allowAnyHost { settings.allowedHosts = AllowedHosts(alsoNamed: allowHost) }
        let recording = RecordingProxy.Upstream(upstream).map { upstream in
            RecordingProxy(to: upstream) { lines.tell("the recording is full: nothing more is recorded") }
        }
        if let recording {
            settings.addRoutes = { recording.addRoutes(to: $0) }
            // The upstream may take more than a server of Channels does.
            settings.bodyLimit = 16 << 20
        }
        var app = ServerApp(id: appID, key: key, secret: secret, encryptionMasterKey: encryptionMasterKey)
        app.webhooks = webhook.map { ServerApp.WebhookEndpoint($0) }
        let server = try await LocalServer.start(
            port: port, apps: [app], profile: imitated ?? .hosted, seed: seed, settings: settings,
            tls: tls ? .throwaway : nil)
        let authority = try server.certificateAuthority?.file()
        // Otherwise the file would go with the server, which a task may hold until the process ends.
        defer { if let authority { try? FileManager.default.removeItem(at: authority) } }
        if let authority { output("certificate authority in \(authority.path)") }
        if let recording, let record {
            // A file that can't be written is found out before anything is recorded; an earlier recording stays until something is.
            try recording.save(to: record)
        } else {
            // Not reported: something asks every few seconds.
            server.unrecordedRouter.on("GET /up") { _ in .json(["health": "OK"]) }
            if page { LivePage(profile: profile).show(server) }
        }
        output("listening on \(server.url)")
        if page, recording == nil { output("live page on \(server.url)/") }
        if untilInputEnds { endWithInput() }
        Task { end.yield(await server.end()) }
        let reason = await ends.first { _ in true } ?? nil
        if !quiet { lines.tell("stopping") }
        // Before the connections end, which a second signal doesn't wait for.
        let saved = Result<Void, any Error> { if let recording, let record { try recording.save(to: record) } }
        await server.stop()
        notices.end()
        try saved.get()
        if let reason { throw Failure("the server can't listen any more: \(reason)") }
    }
}

/// The lines about what happens at a server.
private final class ServeNotices: Sendable {
    private let lines: LineWriter
    private let isQuiet: Bool
    private let delivered = Locked(DeliveredWebhooks())

    init(_ lines: LineWriter, isQuiet: Bool) {
        self.lines = lines
        self.isQuiet = isQuiet
    }

    func add(_ event: LocalServer.Event) {
        if isQuiet, !event.isFailure { return }
        guard case .webhook(let webhook, let status?, _) = event, !event.isFailure else { return lines.tell("\(event)") }
        guard delivered.withLock({ $0.add(webhook, status: status) }) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [self] in end() }
    }

    /// Prints what is still held back.
    func end() {
        for line in delivered.withLock({ $0.takeLines() }) { lines.tell(line) }
    }
}

extension LocalServer.Event {
    /// Indicates whether something was refused or didn't work.
    fileprivate var isFailure: Bool {
        switch self {
        case .notice(.refused), .notice(.subscriptionRefused), .notice(.protocolError), .notice(.publishRefused): true
        case .notice: false
        case .request(_, let status, _): status >= 400
        case .webhook(_, let status, _): status.map { !(200..<300).contains($0) } ?? true
        }
    }
}

/// The webhooks that were delivered and not yet told of. A busy server delivers more than anybody reads lines about.
struct DeliveredWebhooks {
    private var receivers: [String: (webhooks: Int, kinds: [String: Int])] = [:]

    /// Adds a webhook, and returns whether it is the first one.
    mutating func add(_ webhook: ServerMachine.Webhook, status: Int) -> Bool {
        defer {
            let receiver = "\(webhook.url.withoutSecretsOfAddresses.inLogLine()): \(status)"
            receivers[receiver, default: (0, [:])].webhooks += 1
            for kind in webhook.kinds { receivers[receiver]?.kinds[kind.rawValue, default: 0] += 1 }
        }
        return receivers.isEmpty
    }

    /// Returns a line for each address and status, and forgets them.
    mutating func takeLines() -> [String] {
        defer { receivers = [:] }
        return receivers.sorted { $0.key < $1.key }.map { receiver, sums in
            let kinds = sums.kinds.sorted { $0.key < $1.key }.map { $0.value == 1 ? $0.key : "\($0.value) \($0.key)" }
            let webhooks = sums.webhooks == 1 ? "webhook" : "\(sums.webhooks) webhooks"
            return "\(webhooks) with \(kinds.joined(separator: ", ")) to \(receiver)"
        }
    }
}
