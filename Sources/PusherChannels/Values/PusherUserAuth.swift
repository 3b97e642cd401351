/// An authorization to sign a user in: the response of a user authentication endpoint. Whoever prints or dumps it sees none of its parts.
public struct PusherUserAuth: Equatable, Sendable, CustomStringConvertible {
    private struct Parts: Equatable {
        let auth: String
        let userData: String
    }

    private let parts: Secret<Parts>

    /// Creates an authorization from its parts, as an endpoint's answer names them.
    public init(auth: String, userData: String) {
        parts = Secret(Parts(auth: auth, userData: userData))
    }

    /// `key:signature`.
    public var auth: String { parts.value.auth }

    /// The JSON text that was signed, an object with the user's `id`; passed on to the server byte for byte.
    public var userData: String { parts.value.userData }

    /// Names the parts without showing them.
    public var description: String { "PusherUserAuth(auth, userData)" }
}
