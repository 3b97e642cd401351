import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way to get the authorization to sign a client's user in.
///
/// The application's code in it is called on the thread that brought the need for it, on Linux mostly the one that serves all
/// connections: code that blocks stops them all. `async` code runs in a task of its own. Its description shows no secret.
public enum UserAuthMethod: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A form POST to this address, with `socket_id`; the answer is JSON with `auth` and `user_data`.
    case endpoint(String)
    /// A POST to an endpoint with headers and parameters of the application's, which may be fetched with `async` code.
    case customEndpoint(AuthEndpoint)
    /// The application builds the request for the connection that has this socket id; its answer is read as an endpoint's is. Nil
    /// makes the sign-in fail.
    case requestBuilder(@Sendable (_ socketID: String) -> URLRequest?)
    /// Signatures are made here with the app's secret, of the user data as JSON text: an object with the user's `id`. For tests
    /// and for servers: a secret has no place in an app.
    case inline(secret: String, userData: String)
    /// The application gets the authorization with `async` code; what it throws becomes the failure of the sign-in, a ``PusherError``'s
    /// code and ``PusherError/retryAfter`` included. It is asked again after a while where an endpoint would be: not after a
    /// refusal, such as a ``PusherError`` with code 403 (``AuthMethod/customHandler(_:)``).
    case customHandler(@Sendable (_ socketID: String) async throws -> PusherUserAuth)
    /// None: no user can be signed in.
    case noMethod

    /// The method's name without what it holds.
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

    /// Nothing to look into: `dump` must not show a secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
