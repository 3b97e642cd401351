import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way to authorize a client to subscribe to private, presence and encrypted channels.
///
/// The application's code in it is called on the thread that needs the authorization, on Linux mostly the one that serves all
/// connections: code that blocks stops them all. `async` code runs in a separate task. The description shows no secret.
public enum AuthMethod: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A form POST to this address, with `socket_id` and `channel_name`; the response is JSON with `auth`.
    case endpoint(authEndpoint: String)
    /// A POST to an endpoint with the application's headers and parameters, which may be fetched with `async` code.
    case customEndpoint(AuthEndpoint)
    /// The application builds the request; the response is read like an endpoint's.
    case authRequestBuilder(authRequestBuilder: any AuthRequestBuilderProtocol)
    /// The application gets the authorization in its own way and calls back. If it has none it can't say why, so there is no
    /// retry; with ``customHandler(_:)`` it can.
    case authorizer(authorizer: any Authorizer)
    /// Signatures are made locally with the app's secret. For tests and servers: a secret has no place in an app.
    ///
    /// Encrypted channels need the app's encryption master key too (``inline(secret:encryptionMasterKey:)``).
    case inline(secret: String)
    /// Signatures are made locally with the app's secret, and the keys of encrypted channels with its encryption master key, in
    /// base64.
    case inlineEncrypted(secret: String, encryptionMasterKey: String)
    /// The application gets the authorization with `async` code.
    ///
    /// ```swift
    /// let method = AuthMethod.customHandler { socketID, channel in
    ///     let (status, body) = try await backend.post("/pusher/auth", ["socket_id": socketID, "channel_name": channel])
    ///     guard status == 200 else { throw PusherError(.authorization, code: status, message: "no authorization for \(channel)") }
    ///     return try JSONDecoder().decode(PusherAuth.self, from: body)
    /// }
    /// ```
    ///
    /// An error that the handler throws becomes the failure of that subscription, with the error's description as its message.
    /// The call is retried after a while if a request to an endpoint would be: after a ``PusherError`` whose code is 408, 425,
    /// 429 or from 500 to 599, not before its ``PusherError/retryAfter``; after a `URLError`, unless the request can't be made at
    /// all, a proxy refused it, or the response is too large; and after errors of other types. Any other code is a refusal, and so
    /// is `invalidRequest`. The call is cancelled when its result is no longer needed. Its task-local values may be those of any
    /// code.
    case customHandler(@Sendable (_ socketID: String, _ channelName: String) async throws -> PusherAuth)
    /// No method: only public channels can be subscribed to.
    case noMethod

    /// Returns a method that makes signatures locally, for encrypted channels with the app's encryption master key, if there is
    /// one.
    public static func inline(secret: String, encryptionMasterKey: String?) -> AuthMethod {
        guard let encryptionMasterKey else { return .inline(secret: secret) }
        return .inlineEncrypted(secret: secret, encryptionMasterKey: encryptionMasterKey)
    }

    /// The method's name, without its contents.
    public var description: String {
        switch self {
        case .endpoint(let endpoint): "endpoint(\(endpoint.addressWithoutSecrets))"
        case .customEndpoint(let endpoint): "customEndpoint(\(endpoint))"
        case .authRequestBuilder: "authRequestBuilder"
        case .authorizer: "authorizer"
        case .inline, .inlineEncrypted: "inline"
        case .customHandler: "customHandler"
        case .noMethod: "noMethod"
        }
    }

    /// The ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, because `dump` must not show a secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A type that gets authorizations for channels in the application's own way. Called as ``AuthMethod`` describes.
@preconcurrency
public protocol Authorizer: Sendable {
    /// Gets the authorization for one channel on the connection with this socket id.
    ///
    /// Call the handler once, on any thread, with the authorization, or with nil if there is none: the subscription then fails. A
    /// late or second call is ignored.
    func fetchAuthValue(
        socketID: String, channelName: String, completionHandler: @escaping @Sendable (PusherAuth?) -> Void)
}

/// A type that builds the request for an authorization. Called as ``AuthMethod`` describes.
@preconcurrency
public protocol AuthRequestBuilderProtocol: Sendable {
    /// Returns the request for one channel on the connection with this socket id; nil makes the subscription fail.
    func requestFor(socketID: String, channelName: String) -> URLRequest?
}
