import PusherChannels

/// An app on a test server: what the Channels dashboard would show of it.
///
/// Its description shows no secret.
public struct ServerApp: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number in the HTTP API's paths. Server libraries refuse others than digits.
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
    /// Decides what the authorization endpoint signs for channels beyond ``deniedChannels``; `false` means 403. It is told the user's
    /// id where the request named one. It is asked while the server is busy, and must not ask that in turn.
    public var authorizes: @Sendable (_ request: PusherAuthRequest, _ userID: String?) -> Bool

    /// Indicates whether the app is served at all; 4003 if not.
    public var isEnabled = true
    /// Indicates whether only connections over TLS are served; others are refused with 4000.
    public var requiresTLS = false
    /// The largest number of connections the app may have; more are refused with 4004.
    public var maximumConnections: Int?
    /// The time a connection has to sign its user in or to subscribe to a channel that takes a signature; then it is closed with
    /// 4009. `nil` means for ever.
    public var authorizationTimeout: Duration?
    /// Indicates whether clients may send events to each other; they hear 4301 if not.
    public var acceptsClientEvents = true
    /// Indicates whether subscribers hear how many they are, on channels without members.
    public var countsSubscriptions = false
    /// The addresses that are told of what happens on the app's channels.
    public var webhooks: [WebhookEndpoint] = []

    /// Creates an app; its endpoint signs everything unless told otherwise.
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

    /// The app that test servers have when none is named: id `1`, key `local-key`, secret `local-secret`, and a master key.
    public static let local = ServerApp(
        id: "1", key: "local-key", secret: "local-secret",
        encryptionMasterKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")

    /// The app's id and key.
    public var description: String { "app \(id) (key \(key))" }

    /// The ``description``.
    public var debugDescription: String { description }

    /// Nothing to look into: `dump` must not show a secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ServerApp {
    /// The key of an encrypted channel; `nil` where there is no master key of the right length, or no libsodium.
    func sharedSecret(of channel: ChannelName) -> SharedSecret? {
        guard channel.kind == .encrypted, SecretBox.isSupported else { return nil }
        return encryptionMasterKey.flatMap { SharedSecret.derived(for: channel.text, masterKey: $0) }
    }
}
