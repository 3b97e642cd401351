import PusherChannels

/// An app on a test server, with the settings that the Channels dashboard would show.
///
/// Its description shows no secret.
public struct ServerApp: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number in the HTTP API's paths. Server libraries accept only digits.
    public var id: String
    /// The public key that clients connect with.
    public var key: String
    /// The secret that signatures are made with.
    public var secret: String
    /// The master key of encrypted channels, 32 bytes in base64; `nil` means that the app has none.
    public var encryptionMasterKey: String?
    /// Channels that the authorization endpoint refuses with 403.
    public var deniedChannels: Set<String>
    /// Users that the authorization endpoint refuses with 403.
    public var deniedUsers: Set<String> = []
    /// A closure that decides whether the authorization endpoint signs for a channel that isn't in ``deniedChannels``; `false`
    /// means 403. It is passed the user's id if the request names one. It is called while the server is busy, and must not call
    /// the server in turn.
    public var authorizes: @Sendable (_ request: PusherAuthRequest, _ userID: String?) -> Bool

    /// Indicates whether the app is served at all. If not, connections are refused with 4003.
    public var isEnabled = true
    /// Indicates whether only connections over TLS are served; others are refused with 4000.
    public var requiresTLS = false
    /// The largest number of connections that the app may have; more are refused with 4004.
    public var maximumConnections: Int?
    /// The time that a connection has to sign in its user or to subscribe to a channel that requires a signature. After that it
    /// is closed with 4009. `nil` means that there is no limit.
    public var authorizationTimeout: Duration?
    /// Indicates whether clients may send events to each other. If not, they get error 4301.
    public var acceptsClientEvents = true
    /// Indicates whether the number of subscribers is announced to them, on channels without members.
    public var countsSubscriptions = false
    /// The endpoints that receive webhooks about the app's channels.
    public var webhooks: [WebhookEndpoint] = []

    /// Creates an app, whose authorization endpoint signs everything by default.
    public init(
        id: String, key: String, secret: String, encryptionMasterKey: String? = nil, deniedChannels: Set<String> = [],
        authorizes: @escaping @Sendable (_ request: PusherAuthRequest, _ userID: String?) -> Bool = { _, _ in true }
    ) {
        self.id = id
        self.key = key
        self.secret = secret
        self.encryptionMasterKey = encryptionMasterKey
        self.deniedChannels = deniedChannels
        self.authorizes = authorizes
    }

    /// The app of test servers that aren't given any: id `1`, key `local-key`, secret `local-secret`, and a master key.
    public static let local = ServerApp(
        id: "1", key: "local-key", secret: "local-secret",
        encryptionMasterKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")

    /// The app's id and key.
    public var description: String { "app \(id) (key \(key))" }

    /// The ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, because `dump` must not show a secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ServerApp {
    /// Returns whether the authorization endpoint refuses a channel by name.
    func denies(channel: String) -> Bool { deniedChannels.contains { $0.hasBytes(of: channel) } }

    /// Returns whether the authorization endpoint refuses a user by id.
    func denies(user: String) -> Bool { deniedUsers.contains { $0.hasBytes(of: user) } }

    /// Returns whether a text that a client may have sent is the app's key.
    func hasKey(_ key: String) -> Bool { self.key.hasBytes(of: key) }

    /// Returns the key of an encrypted channel; `nil` if there is no master key of the right length, or no libsodium.
    func sharedSecret(of channel: ChannelName) -> SharedSecret? {
        guard channel.kind == .encrypted, SecretBox.isSupported else { return nil }
        return encryptionMasterKey.flatMap { SharedSecret.derived(for: channel.text, masterKey: $0) }
    }
}
