/// An authorization to subscribe to a channel: the response of an authorization endpoint.
///
/// When printed or dumped, it says which parts it has, and shows none of them.
public struct PusherAuth: Equatable, Sendable, CustomStringConvertible {
    private struct Parts: Equatable {
        let auth: String
        let channelData: String?
        let sharedSecret: String?
    }

    private let parts: Secret<Parts>

    /// Creates an authorization from its parts, as an endpoint's response names them.
    public init(auth: String, channelData: String? = nil, sharedSecret: String? = nil) {
        parts = Secret(Parts(auth: auth, channelData: channelData, sharedSecret: sharedSecret))
    }

    /// `key:signature`.
    public var auth: String { parts.value.auth }

    /// The JSON text that was signed, for presence channels; passed on to the server byte for byte.
    public var channelData: String? { parts.value.channelData }

    /// The channel's 32-byte key in base64, for encrypted channels.
    public var sharedSecret: String? { parts.value.sharedSecret }

    /// Names the parts that are there without showing them.
    public var description: String {
        let parts = ["auth", channelData.map { _ in "channelData" }, sharedSecret.map { _ in "sharedSecret" }]
        return "PusherAuth(\(parts.compactMap { $0 }.joined(separator: ", ")))"
    }
}

/// An authorization to sign a user in: the response of a user authentication endpoint. When printed or dumped, it shows none of
/// its parts.
public struct PusherUserAuth: Equatable, Sendable, CustomStringConvertible {
    private struct Parts: Equatable {
        let auth: String
        let userData: String
    }

    private let parts: Secret<Parts>

    /// Creates an authorization from its parts, as an endpoint's response names them.
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

/// The reason why a channel or user was not authorized, from the endpoint or the application's code.
struct AuthorizationFailure: Error, Equatable, Sendable {
    var message: String
    /// The endpoint's address and HTTP status, if it responded at all.
    var url: String?
    var status: Int?
    var body: String?
    /// The failure of the network, if that was why.
    var network: NetworkFailure?
    /// Indicates whether a retry may help.
    var isRetryable = false
    /// The minimum time before a retry, if the endpoint or the code gave one.
    var retryAfter: Duration?

    /// A failure as a session reports it, without the addresses that it may hold.
    struct NetworkFailure: Equatable, Sendable {
        /// The code of the `URLError`.
        let code: Int
        let cause: TransportError?
    }

    static let emptySecret = AuthorizationFailure(message: "the app's secret is empty: look where it is set")

    /// The failure as it is reported to the application.
    var error: PusherError {
        PusherError(.authorization, code: status, message: message, retryAfter: retryAfter, isRetryable: isRetryable)
    }
}
