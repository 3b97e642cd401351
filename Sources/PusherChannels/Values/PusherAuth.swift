/// An authorization to subscribe to a channel: the response of an authorization endpoint.
///
/// Whoever prints or dumps it sees which parts are there, and none of them.
public struct PusherAuth: Equatable, Sendable, CustomStringConvertible {
    private struct Parts: Equatable {
        let auth: String
        let channelData: String?
        let sharedSecret: String?
    }

    private let parts: Secret<Parts>

    /// Creates an authorization from its parts, as an endpoint's answer names them.
    public init(auth: String, channelData: String? = nil, sharedSecret: String? = nil) {
        parts = Secret(Parts(auth: auth, channelData: channelData, sharedSecret: sharedSecret))
    }

    /// `key:signature`.
    public var auth: String { parts.value.auth }

    /// For presence channels: the JSON text that was signed, passed on to the server byte for byte.
    public var channelData: String? { parts.value.channelData }

    /// For encrypted channels: the base64 of the channel's 32-byte key.
    public var sharedSecret: String? { parts.value.sharedSecret }

    /// Names the parts that are there without showing them.
    public var description: String {
        let parts = ["auth", channelData.map { _ in "channelData" }, sharedSecret.map { _ in "sharedSecret" }]
        return "PusherAuth(\(parts.compactMap { $0 }.joined(separator: ", ")))"
    }
}
