import PusherChannels

/// An app on a test server: what the Channels dashboard would show of it.
public struct ServerApp: Sendable {
    /// What the authorisation endpoint is asked to sign.
    public struct AuthorizationRequest: Equatable, Sendable {
        /// The channel to be joined.
        public let channel: String
        /// The socket id of the connection that wants to join.
        public let socketID: String
        /// The user's id, where the request's form named one.
        public let userID: String?
    }

    /// The number or name in the HTTP API's paths.
    public var id: String
    /// The public key that clients connect with.
    public var key: String
    /// What signatures are made with.
    public var secret: String
    /// Channels that the authorisation endpoint refuses with 403.
    public var deniedChannels: Set<String>
    /// Decides what the authorisation endpoint signs beyond ``deniedChannels``; `false` means 403.
    public var authorizes: @Sendable (AuthorizationRequest) -> Bool

    /// Creates an app; its endpoint signs everything unless told otherwise.
    public init(
        id: String, key: String, secret: String, deniedChannels: Set<String> = [],
        authorizes: @escaping @Sendable (AuthorizationRequest) -> Bool = { _ in true }
    ) {
        self.id = id
        self.key = key
        self.secret = secret
        self.deniedChannels = deniedChannels
        self.authorizes = authorizes
    }

    /// The app that test servers have when none is named: id `app-id`, key `local-key`, secret `local-secret`.
    public static let local = ServerApp(id: "local", key: "local-key", secret: "local-secret")
}
