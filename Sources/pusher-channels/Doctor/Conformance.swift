import ArgumentParser
import Foundation
import Logging
import PusherChannels
import TestSupport

/// Tries what the SDK can do against a server, so that users of one that nobody here has run learn what of it works there.
struct Conformance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try the client's and the backend's features against a server, and print which of them work.",
        discussion: """
            Opens two connections as users of its own, subscribes to channels whose names begin with conformance, publishes to them, \
            and closes the connections of its users. It needs the app's secret. What the server hasn't got fails; what depends on \
            something that failed is untested.

            Statuses: 0 when all works; 1 when something doesn't, or the server can't be reached; 64 when the command line can't be used; 75 \
            when the port to receive webhooks on is taken.
            """)

    @OptionGroup var backend: BackendOptions

    @Option(help: "The longest wait for each feature, in seconds.")
    var wait = 5.0

    @Option(help: "The port on 127.0.0.1 to which the server sends webhooks; without one, they aren't tried.")
    var webhookPort: Int?

    @Flag(help: "Print one JSON object per feature: feature, result (ok, failed, untested), detail.")
    var json = false

    func validate() throws {
        if let webhookPort { try validateListening(webhookPort, "--webhook-port") }
        guard wait > 0, wait <= 3_600 else { throw ValidationError("--wait takes between 0 and 3600 seconds") }
        _ = try backend.app.secret(backend.server.configuration)
    }

    func run() async throws {
        let (ann, bob) = (try client("conformance-ann"), try client("conformance-bob"))
        let checks = Checks(ann: ann, bob: bob, api: try backend.makeAPI())
        let receiver = try await receiveWebhooks(for: ann)
        var failed: Set<String> = []
        for check in Checks.all {
            if check.name == "encrypted channel", try masterKey == nil { continue }
            if check.name == "webhooks", receiver == nil { continue }
            var row = Row(feature: check.name, result: .ok, detail: nil)
            if let cause = check.needs.first(where: failed.contains) {
                (row.result, row.detail) = (.untested, "needs: \(cause)")
            } else {
                do {
                    for client in [ann, bob] { client.limit(to: wait) }
                    try await check.body(checks)
                } catch {
                    (row.result, row.detail) = (.failed, "\(error)".onOneLine)
                }
            }
            if row.result != .ok { failed.insert(check.name) }
            output(json ? row.jsonLine : row.text(on: .output))
        }
        await receiver?.stop()
        if !failed.isEmpty { throw ExitCode.failure }
    }

    /// Starts a server that adds webhooks, which must be signed, to a client's notifications.
    private func receiveWebhooks(for client: DemoClient) async throws -> LocalServer? {
        guard let webhookPort else { return nil }
        let secrets = [backend.server.key: try backend.app.secret(backend.server.configuration)]
        let verifier = PusherWebhookVerifier(
            secrets: secrets, encryptionMasterKeys: try backend.app.masterKeys(backend.server.configuration))
        let receiver = try await LocalServer.start(port: webhookPort)
        receiver.router.on("POST") { [notifications = client.notifications] request in
            let webhook = try verifier.verify(
                body: request.body, key: request.header("X-Pusher-Key"), signature: request.header("X-Pusher-Signature"))
            for event in webhook.events { notifications.add(.webhook(event)) }
            return StubResponse(status: 200)
        }
        return receiver
    }

    private var masterKey: String? { get throws { try backend.app.masterKeyText(backend.server.configuration) } }

    private func client(_ userID: String) throws -> DemoClient {
        let (server, secret) = (backend.server, try backend.app.secret(backend.server.configuration))
        let options = PusherClientOptions(
            authMethod: .inline(secret: secret, encryptionMasterKey: try masterKey),
            userAuthMethod: .inline(secret: secret, userData: #"{"id":"\#(userID)"}"#), host: server.location,
            port: server.portToUse, path: backend.path, useTLS: server.usesTLS, tls: backend.route.tls,
            proxy: backend.route.proxyConfiguration, logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() })
        let client = DemoClient(key: server.key, options: options)
        client.pusher.connection.userDataFetcher = { PusherPresenceChannelMember(userID: userID) }
        return client
    }
}

extension Conformance {
    /// A feature and whether it works.
    struct Row: Encodable {
        let feature: String
        var result: DoctorReport.Line.Result
        var detail: String?

        func text(on terminal: TerminalTraits) -> String {
            let columns = [(result == .failed ? "FAILED" : result.rawValue, 10), (feature, 30)]
                .map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            return (terminal.paint(columns[0], result.color) + columns[1] + (detail ?? "")).trimmingCharacters(in: .whitespaces)
        }
    }

    /// The two users, and their backend.
    struct Checks {
        let ann: DemoClient
        let bob: DemoClient
        let api: PusherHTTPAPI

        struct Check: Sendable {
            let name: String
            /// The checks without which this one can't succeed.
            let needs: [String]
            let body: @Sendable (Checks) async throws -> Void

            init(_ name: String, needs: String..., body: @escaping @Sendable (Checks) async throws -> Void) {
                (self.name, self.needs, self.body) = (name, needs, body)
            }
        }

        static let all: [Check] = [
            Check("connect") { checks in
                for client in [checks.ann, checks.bob] {
                    client.pusher.connect()
                    try await client.waitForFirstConnection()
                }
            },
            Check("public channel", needs: "connect") { try await $0.join("conformance") },
            Check("private channel", needs: "connect") { try await $0.join("private-conformance") },
            Check("publish", needs: "public channel") { try await $0.receive("conformance") },
            Check("publish to several channels", needs: "publish", "private channel") { checks in
                try await checks.api.trigger(
                    channels: ["conformance", "private-conformance"], eventName: "several", data: "text")
                for _ in 1...2 { _ = try await checks.ann.waitForEvent("several") }
            },
            Check("publish a batch", needs: "publish") { checks in
                try await checks.api.triggerBatch(
                    (1...2).map { PusherBatchEvent(channel: "conformance", eventName: "batch", data: "\($0)") })
                for _ in 1...2 { _ = try await checks.ann.waitForEvent("batch") }
            },
            Check("exclude a connection", needs: "publish") { checks in
                try await checks.bob.join("conformance")
                let bob = checks.bob.pusher.connection.socketID
                try await checks.api.trigger(channels: ["conformance"], eventName: "excluding", data: "1", excluding: bob)
                try await checks.api.trigger(channels: ["conformance"], eventName: "to-all", data: "2")
                let first: PusherEvent = try await checks.bob.wait {
                    if case .event(let event) = $0, event.data == "1" || event.data == "2" { event } else { nil }
                }
                guard first.eventName == "to-all" else { throw Failure("the excluded connection received the event") }
            },
            Check("encrypted channel", needs: "publish", "private channel") { checks in
                try await checks.join("private-encrypted-conformance")
                try await checks.receive("private-encrypted-conformance")
            },
            Check("cache channel", needs: "publish") { checks in
                try await checks.api.trigger(channels: ["cache-conformance"], eventName: "cached", data: "text")
                try await checks.join("cache-conformance")
                _ = try await checks.ann.waitForEvent("cached")
            },
            Check("presence channel", needs: "connect") { checks in
                try await checks.join("presence-conformance")
                let ids = checks.ann.presence("presence-conformance")?.members.map(\.userID) ?? []
                guard ids == ["conformance-ann"] else { throw Failure("the members are \(ids)") }
            },
            Check("members come and go", needs: "presence channel") { checks in
                try await checks.bob.join("presence-conformance")
                try await checks.ann.wait { if case .memberAdded("conformance-bob", _) = $0 { () } else { nil } }
                checks.bob.pusher.unsubscribe("presence-conformance")
                try await checks.ann.wait { if case .memberRemoved("conformance-bob", _) = $0 { () } else { nil } }
            },
            Check("client events", needs: "private channel") { checks in
                try await checks.bob.join("private-conformance")
                let result = checks.ann.pusher.connection.channels.find(name: "private-conformance")?
                    .trigger(eventName: "client-wave", data: ["n": 1])
                guard result == .sent else { throw Failure("it was not sent: \(result.map { "\($0)" } ?? "no channel")") }
                _ = try await checks.bob.waitForEvent("client-wave")
            },
            Check("sign in", needs: "connect") { checks in
                for client in [checks.ann, checks.bob] {
                    client.pusher.signIn { [client = client.notifications] in client.add(.signedIn($0)) }
                    _ = try await client.wait { if case .signedIn(let result) = $0 { try result.get() } else { nil } }
                }
            },
            Check("event to a user", needs: "sign in") { checks in
                // It is asked for after the sign-in, and an event before that is nobody's.
                let userChannel = "#server-to-user-conformance-ann"
                try await checks.ann.wait {
                    switch $0 {
                    case .subscribed(userChannel), .subscriptionFailed(userChannel, _): ()
                    default: nil
                    }
                }
                try await checks.api.sendToUser("conformance-ann", eventName: "to-user", data: "text")
                _ = try await checks.ann.waitForEvent("to-user")
            },
            Check("list channels", needs: "public channel") { checks in
                let names = try await checks.api.channels(withPrefix: "conformance").map(\.name)
                guard names.contains("conformance") else { throw Failure("the list is \(names)") }
            },
            Check("describe a channel", needs: "public channel") { checks in
                let channel = try await checks.api.channel("conformance", info: [.subscriptionCount])
                guard channel.isOccupied == true else { throw Failure("it isn't occupied") }
            },
            Check("list users", needs: "presence channel") { checks in
                let users = try await checks.api.users(of: "presence-conformance")
                guard users == ["conformance-ann"] else { throw Failure("the users are \(users)") }
            },
            Check("webhooks", needs: "public channel") { checks in
                try await checks.join("conformance-webhooks")
                try await checks.ann.wait { if case .webhook(.channelOccupied("conformance-webhooks")) = $0 { () } else { nil } }
                checks.ann.pusher.unsubscribe("conformance-webhooks")
                try await checks.ann.wait { if case .webhook(.channelVacated("conformance-webhooks")) = $0 { () } else { nil } }
            },
            Check("close a user's connections", needs: "sign in") { checks in
                try await checks.api.terminateConnections(ofUser: "conformance-bob")
                try await checks.bob.wait {
                    switch $0 {
                    case .state(.reconnecting), .state(.disconnected): ()
                    default: nil
                    }
                }
            },
        ]

        private func join(_ channel: String) async throws {
            try await ann.join(channel)
        }

        /// Publishes an event, and waits for it.
        private func receive(_ channel: String) async throws {
            try await api.trigger(channels: [channel], eventName: "plain", data: ["text": "é \u{1F642} \\"])
            let event = try await ann.wait {
                if case .event(let event) = $0, event.eventName == "plain", event.channelName == channel { event } else { nil }
            }
            guard try event.decode([String: String].self) == ["text": "é \u{1F642} \\"] else {
                throw Failure("its data arrived as \(event.data ?? "nothing")")
            }
        }
    }
}

extension DemoClient {
    /// Subscribes to a channel, and waits for the outcome.
    fileprivate func join(_ channel: String) async throws {
        subscribe(channel)
        try await wait {
            switch $0 {
            case .subscribed(channel): ()
            case .subscriptionFailed(channel, let error): throw error
            default: nil
            }
        }
    }
}
