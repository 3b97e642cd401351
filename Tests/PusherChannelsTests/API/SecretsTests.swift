import Foundation
import Processes
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A secret is planted wherever an application can pass one; no description, dump, log line or error shows it.
@Suite struct SecretsTests {
    private static let secret = "s3cr3t"
    private static let address = "https://ann:\(secret)@example.com/auth?token=\(secret)#\(secret)"
    private static let pem = PEMSource.text("-----BEGIN PRIVATE KEY-----\(secret)")
    private static let proxy = HTTPProxy(host: "proxy", port: 1, credentials: .init(user: "ann", password: secret))
    private static let tls = TLSConfiguration(roots: .only(pem), identity: .init(certificateChain: pem, privateKey: pem))
    private static let masterKey = Data("\(secret)\(String(repeating: "x", count: 26))".utf8).base64EncodedString()

    private static var endpoint: AuthEndpoint {
        var endpoint = AuthEndpoint(address)
        endpoint.headers = { _ in ["Authorization": secret] }
        endpoint.parameters = { _ in ["token": secret] }
        return endpoint
    }

    private static var options: PusherClientOptions {
        PusherClientOptions(
            authMethod: .inline(secret: secret, encryptionMasterKey: masterKey),
            userAuthMethod: .inline(secret: secret, userData: #"{"id":"ann"}"#), tls: tls, proxy: .http(proxy),
            headers: ["Authorization": "Bearer \(secret)", "Cookie": secret], delivery: .immediate)
    }

    /// A client that is using everything that takes secrets.
    private static var client: Pusher {
        let environment = PusherEnvironment(
            scheduler: TestScheduler(), httpSession: MockSession(), makeWebSocket: { MuteSocket() })
        let pusher = Pusher(key: "key", options: options, environment: environment)
        for channel in ["private-room", "presence-room", "private-encrypted-room"] { pusher.subscribe(channel) }
        pusher.subscribe("private-brought", auth: PusherAuth(auth: secret, channelData: secret, sharedSecret: secret))
        pusher.signIn { _ in }
        pusher.connect()
        return pusher
    }

    private static func plant() throws -> [Any] {
        let (pusher, keys) = (client, [try EncryptionMasterKey(base64: masterKey)])
        let apiOptions = PusherHTTPAPIOptions(encryptionMasterKeys: keys)
        let pool = PusherPool(key: "key", options: options)
        pool.subscribe("private-room")
        let request = WebSocketRequest(
            secure: true, host: "example.com", port: 1, path: "/?token=\(secret)", headers: ["Authorization": secret], tls: tls,
            proxy: .http(proxy))
        return [
            pool, AuthMethod.inline(secret: secret, encryptionMasterKey: secret), AuthMethod.endpoint(authEndpoint: address),
            AuthMethod.customEndpoint(endpoint), UserAuthMethod.inline(secret: secret, userData: secret),
            UserAuthMethod.endpoint(address), UserAuthMethod.customEndpoint(endpoint), endpoint,
            PusherAuth(auth: secret, channelData: secret, sharedSecret: secret), PusherUserAuth(auth: secret, userData: secret),
            PusherHTTPAPI(appID: "1", key: "key", secret: secret, options: apiOptions), apiOptions, keys[0],
            PusherAuthenticator(key: "key", secret: secret, encryptionMasterKeys: keys),
            PusherWebhookVerifier(secrets: ["key": secret], encryptionMasterKeys: keys),
            PusherAuthHandler(
                authenticator: PusherAuthenticator(key: "key", secret: secret),
                verifier: PusherWebhookVerifier(secrets: ["key": secret])),
            try PusherSettings(environment: ["PUSHER_KEY": "key", "PUSHER_CLUSTER": "eu", "PUSHER_SECRET": secret]),
            options, request, proxy, proxy.credentials as Any, ProxyConfiguration.http(proxy), pem, tls, tls.roots,
            tls.identity as Any, pusher, pusher.connection, pusher.user, pusher.user.watchlist, pusher.connection.channels,
            pusher.subscribe("private-room"),
            pusher.subscribeToPresenceChannel(channelName: "presence-room"), pusher.events(buffering: StreamBuffering()),
            pusher.subscribe("private-room").events(named: "n", as: String.self),
            PusherError(.authorization, message: "asked \(address)"), TransportError(.unreachable, "opened \(address)"),
            WebSocketClosure.failed(TransportError(.unreachable, "opened \(address)")),
            PusherError(.authorization, message: "asked \(address)") as NSError,
        ]
    }

    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    // Proves P14.9.
    @Test func `No description, reflection, or dump of a public value shows a secret`() throws {
        for value in try Self.plant() {
            for text in Self.texts(of: value) where text.contains(Self.secret) || text.contains(Self.masterKey) {
                Issue.record("\(type(of: value)) shows it: \(Self.around(text))")
            }
        }
    }

    private static func around(_ text: String) -> String {
        let lines = text.split(separator: "\n")
        guard let found = lines.firstIndex(where: { $0.contains(secret) || $0.contains(masterKey) }) else { return "" }
        return lines[max(0, found - 12)...found].joined(separator: "\n")
    }

    @Test func `Every public type has a secret planted in it or is listed as having no place for one`() throws {
        let without: Set = [
            "AsyncIterator", "Attribute", "AuthorizationContext", "CachedEvent", "ChannelUpdate", "ClientEvent",
            "ConnectionAttempt", "ConnectionState", "ConnectionStateChange", "ConnectionTimeouts", "Continuation", "Decision",
            "DecodedFollowStep", "DecodedFollowStream", "DefaultTransport", "DeliveryPolicy", "Element", "Encoding", "Event",
            "EventGap", "FollowStep", "FollowStream", "Guarantee", "HTTPAPIFailure", "Instant", "Kind", "LaravelEvent",
            "LiveScheduler", "LoadReason", "MessageBatch", "NetworkHTTPSession", "NetworkHTTPTask", "NetworkLoop",
            "NetworkWebSocket", "Overflow", "PoolFollowStream", "PoolUpdate", "PropagatedContext", "ProtocolLimits",
            "PusherAuthRequest", "PusherBatchEvent", "PusherChannelInfo", "PusherChannelType", "PusherEnvironment",
            "PusherEvent", "PusherHealth", "PusherHost", "PusherPresenceChannelMember", "PusherProtocol", "PusherServer",
            "PusherWebhook", "PusherWebhookError", "Reason", "ReconnectPolicy", "Response", "RetryPolicy", "Shard",
            "StreamBuffering", "StreamPosition", "SubscriptionFilter", "SubscriptionRewind", "TLSError", "Tags",
            "TelemetryNames", "TriggerResult", "TypedFollowStep", "TypedFollowStream", "TypedUpdate", "TypedUpdates",
            "URLSessionWebSocket", "Verification", "Version",
        ]
        let planted = Set(try Self.plant().map { String("\(type(of: $0))".prefix { $0 != "<" }) })
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Sources/PusherChannels")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let pattern = #/(?:public|open) (?:final )?(?:struct|enum|class|actor) (\w+)/#
        var types: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            types.formUnion(try String(contentsOf: file, encoding: .utf8).matches(of: pattern).map { String($0.output.1) })
        }
        #expect(types.count > 50)
        #expect(types.subtracting(without).subtracting(planted).subtracting(["Credentials", "Identity"]) == [])
        #expect(without.intersection(planted) == [])
    }

    private static let failing = URLError(
        .timedOut,
        userInfo: [
            NSURLErrorFailingURLErrorKey: URL(string: address) as Any, "NSErrorFailingURLStringKey": address, "token": secret,
        ])

    private struct Refusal: Error { let replied: String }

    private enum Wrapped: Error {
        case session(any Error)
        case deeper([String: any Error])
    }

    static let methods: [AuthMethod] = [
        .customHandler { _, _ in throw failing }, .customHandler { _, _ in throw failing as NSError },
        .customHandler { _, _ in throw Refusal(replied: address) }, .customHandler { _, _ in throw Wrapped.session(failing) },
        .customHandler { _, _ in throw Wrapped.session(failing as NSError) },
        .customHandler { _, _ in throw Wrapped.deeper(["cause": Wrapped.session(failing)]) },
        .customEndpoint(failingEndpoint(address)), .customEndpoint(failingEndpoint("example.com/auth?token=\(secret)")),
        .endpoint(authEndpoint: "example.com/auth?token=\(secret)"), .endpoint(authEndpoint: "htp://ann:\(secret)@example.com"),
        .endpoint(authEndpoint: address),
    ]

    private static func failingEndpoint(_ address: String) -> AuthEndpoint {
        var endpoint = AuthEndpoint(address)
        endpoint.headers = { _ in throw failing }
        return endpoint
    }

    @Test(arguments: methods.indices)
    func `No error or log line of a failed authorization shows a secret`(method: Int) async throws {
        let lines = Locked<[String]>([])
        let rig = ClientRig.connected(auth: Self.methods[method]) { $0.logger = LineRecorder.logger(lines) }
        rig.session.stub("POST \(Self.address.prefix { $0 != "#" })", .failure(.timedOut))
        rig.pusher.subscribe("private-room")
        let failure = try await rig.recorder.next { $0.failure != nil }
        let texts = lines.withLock { $0 } + rig.recorder.log + ["\(failure)", String(reflecting: failure)]
        #expect(texts.contains { $0.contains("not subscribed") })
        for text in texts { #expect(!text.contains(Self.secret)) }
    }
}

/// A socket that keeps no sent messages; those that a test double keeps are another matter.
private final class MuteSocket: WebSocket {
    private struct Listener { weak var delegate: (any WebSocketDelegate)? }

    private let listener = Locked(Listener())

    var delegate: (any WebSocketDelegate)? {
        get { listener.withLock { $0.delegate } }
        set { listener.withLock { $0.delegate = newValue } }
    }

    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) {
        delegate?.webSocketDidOpen(attempt: attempt)
        MessageBatch.withText(#"{"event":"pusher:connection_established","data":{"socket_id":"1.1"}}"#) {
            delegate?.webSocketDidReceive($0, attempt: attempt)
        }
    }

    func send(_ text: String) {}
    func close(code: UInt16, reason: String) {}
    func setReading(_ reading: Bool) {}
}

@Suite struct AddressesTests {
    @Test(arguments: [
        ("", ""), ("no address", "no address"), ("a: b ://", "a: b ://"),
        ("https://example.com:443/a/b", "https://example.com:443/a/b"),
        ("https://ann:pw@example.com/a", "https://…@example.com/a"), ("https://ann@example.com", "https://…@example.com"),
        ("https://ann:p@ss@example.com/", "https://…@example.com/"), ("http://ann:p/w@example.com/", "http://…@example.com/"),
        ("https://example.com/@ann", "https://example.com/@ann"), ("https://[::1]:80/@ann", "https://[::1]:80/@ann"),
        ("https://example.com/a?token=x&y=z", "https://example.com/a?…"), ("wss://example.com#t=x", "wss://example.com#…"),
        ("https://example.com/a?", "https://example.com/a?"),
        ("asked http://a:b@c?d and \"http://e?f\", 3", "asked http://…@c?… and \"http://e?…\", 3"),
        ("UserInfo={URL=http://c/?d}", "UserInfo={URL=http://c/?…"),
        (#"{"a":"http:\/\/a:b@c\/d?e","f":1}"#, #"{"a":"http:\/\/…@c\/d?…","f":1}"#),
        (#"https:\/\/a.example:8443\/@ann"#, #"https:\/\/a.example:8443\/@ann"#),
        (#"http:\\\/\\\/a@c#d"#, #"http:\\\/\\\/…@c#…"#), (#"c:\a http:\/"#, #"c:\a http:\/"#), ("http:\\", "http:\\"),
    ])
    func `Passwords and queries of URLs in a text are hidden`(text: String, shown: String) {
        #expect(text.withoutSecretsOfAddresses == shown)
    }

    @Test(arguments: [
        ("example.com/auth?token=x", "example.com/auth?…"), ("https://ann:pw@example.com/a?b", "https://…@example.com/a?…"),
        ("/app/key", "/app/key"), ("ann:pw@example.com/auth", "…@example.com/auth"), ("https//ann:p/w@c/d", "…@c/d"),
        ("https:/ann:pw@c?t=x", "…@c?…"), ("c/d?u=http://a:b@e", "c/d?…"), ("https://c/@ann", "https://c/@ann"),
    ])
    func `Passwords and queries of an address are hidden even without a scheme`(text: String, shown: String) {
        #expect(text.addressWithoutSecrets == shown)
    }
}
