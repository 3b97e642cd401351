import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way to get the authorization for signing in a client's user.
///
/// The application's code in it is called on the thread that needs the authorization, on Linux mostly the one that serves all
/// connections: code that blocks stops them all. `async` code runs in a separate task. The description shows no secret.
public enum UserAuthMethod: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A form POST to this address, with `socket_id`; the response is JSON with `auth` and `user_data`.
    case endpoint(String)
    /// A POST to an endpoint with the application's headers and parameters, which may be fetched with `async` code.
    case customEndpoint(AuthEndpoint)
    /// The application builds the request for the connection with this socket id; the response is read like an endpoint's. Nil
    /// makes the sign-in fail.
    case requestBuilder(@Sendable (_ socketID: String) -> URLRequest?)
    /// The user data is signed locally with the app's secret. It is JSON text: an object with the user's `id`. For tests and
    /// servers: a secret has no place in an app.
    case inline(secret: String, userData: String)
    /// The application gets the authorization with `async` code. An error that it throws becomes the failure of the sign-in,
    /// including a ``PusherError``'s code and ``PusherError/retryAfter``. The call is retried after a while if a request to an
    /// endpoint would be: not after a refusal, such as a ``PusherError`` with code 403 (``AuthMethod/customHandler(_:)``).
    case customHandler(@Sendable (_ socketID: String) async throws -> PusherUserAuth)
    /// No method: no user can be signed in.
    case noMethod

    /// The method's name, without its contents.
    public var description: String {
        switch self {
        case .endpoint(let endpoint): "endpoint(\(endpoint.addressWithoutSecrets))"
        case .customEndpoint(let endpoint): "customEndpoint(\(endpoint))"
        case .requestBuilder: "requestBuilder"
        case .inline: "inline"
        case .customHandler: "customHandler"
        case .noMethod: "noMethod"
        }
    }

    /// The ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, because `dump` must not show a secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
