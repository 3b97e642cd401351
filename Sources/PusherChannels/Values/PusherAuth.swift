/// An authorization to subscribe to a channel: the response of an authorization endpoint.
///
/// The authorization of a channel or a user. Printed or dumped it says which parts are there, and shows none of them.
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

/// An authorization to sign a user in: the response of a user authentication endpoint. Printed or dumped it shows none of its parts.
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

/// The key of an encrypted channel in base64, as its authorization gave it. It is never shown.
package struct SharedSecret: Equatable, Sendable {
    private let key: Secret<String>

    package init(base64: String) {
        key = Secret(base64)
    }

    package var base64: String { key.value }
}

/// The reason why a channel was not authorized: what the endpoint or the application's code gave instead.
struct AuthorizationFailure: Error, Equatable, Sendable {
    var message: String
    /// The endpoint's address and HTTP status, where it answered at all.
    var url: String?
    var status: Int?
    var body: String?
    /// Indicates whether asking again may help.
    var isRetryable = false
    /// The shortest time until then, where the endpoint or the code named one.
    var retryAfter: Duration?

    static let emptySecret = AuthorizationFailure(message: "the app's secret is empty: look where it is set")

    /// The failure as the application is told of it.
    var error: PusherError {
        PusherError(.authorization, code: status, message: message, retryAfter: retryAfter, isRetryable: isRetryable)
    }
}
