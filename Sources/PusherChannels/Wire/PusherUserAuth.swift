/// What signs a user in: the answer of a user authentication endpoint.
///
/// Its description shows no signature.
public struct PusherUserAuth: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `key:signature`.
    public let auth: String

    /// The JSON text that was signed, an object with the user's `id`; passed on to the server byte for byte.
    public let userData: String

    /// Creates an authorisation from its parts, as an endpoint's answer names them.
    public init(auth: String, userData: String) {
        self.auth = auth
        self.userData = userData
    }

    /// Names the parts without showing them.
    public var description: String { "PusherUserAuth(auth, userData)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing to look into: `dump` must not show the signature either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
