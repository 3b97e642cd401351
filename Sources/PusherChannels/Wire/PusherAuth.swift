/// What lets a client subscribe to a channel: the answer of an authorisation endpoint.
///
/// Its description shows no secret.
public struct PusherAuth: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `key:signature`.
    public let auth: String

    /// For presence channels: the JSON text that was signed, passed on to the server byte for byte.
    public let channelData: String?

    /// For encrypted channels: the base64 of the channel's 32-byte key.
    public let sharedSecret: String?

    /// Creates an authorisation from its parts, as an endpoint's answer names them.
    public init(auth: String, channelData: String? = nil, sharedSecret: String? = nil) {
        self.auth = auth
        self.channelData = channelData
        self.sharedSecret = sharedSecret
    }

    /// Names the parts that are there without showing them.
    public var description: String {
        let parts = ["auth", channelData.map { _ in "channelData" }, sharedSecret.map { _ in "sharedSecret" }]
        return "PusherAuth(\(parts.compactMap { $0 }.joined(separator: ", ")))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing to look into: `dump` must not show a secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
