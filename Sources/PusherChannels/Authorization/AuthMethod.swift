import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way to authorize a client to subscribe to private, presence and encrypted channels.
///
/// The application's code in it is called on the thread that brought the need for an authorization, on Linux mostly the one
/// that serves all connections: code that blocks stops them all. `async` code runs in a task of its own. Its description shows no
/// secret.
public enum AuthMethod: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A form POST to this address, with `socket_id` and `channel_name`; the answer is JSON with `auth`.
    case endpoint(authEndpoint: String)
    /// A POST to an endpoint with headers and parameters of the application's, which may be fetched with `async` code.
    case customEndpoint(AuthEndpoint)
    /// The application builds the request; its answer is read as an endpoint's is.
    case authRequestBuilder(authRequestBuilder: any AuthRequestBuilderProtocol)
    /// The application gets the authorization its own way and calls back. Without one it can't say why, so it isn't asked again;
    /// ``customHandler(_:)`` can.
    case authorizer(authorizer: any Authorizer)
    /// Signatures are made here with the app's secret. For tests and for servers: a secret has no place in an app.
    ///
    /// Encrypted channels need the app's encryption master key too (``inline(secret:encryptionMasterKey:)``).
    case inline(secret: String)
    /// Signatures are made here with the app's secret, and the keys of encrypted channels with its encryption master key, in base64.
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
    /// An error that it throws becomes the failure of that subscription, its description the message. The call is made again after a
    /// while where a request to an endpoint would be: after a ``PusherError`` whose code is 408, 425, 429 or from 500 to 599, not
    /// before its ``PusherError/retryAfter``; after a `URLError`, unless the request can't be made at all; and after errors of other
    /// sorts. Any other code is a refusal, and so is `invalidRequest`. It is cancelled when its answer is wanted no longer.
    case customHandler(@Sendable (_ socketID: String, _ channelName: String) async throws -> PusherAuth)
    /// None: only public channels can be subscribed to.
    case noMethod

    /// Signatures are made here, with the app's encryption master key for encrypted channels too, if there is one.
    public static func inline(secret: String, encryptionMasterKey: String?) -> AuthMethod {
        guard let encryptionMasterKey else { return .inline(secret: secret) }
        return .inlineEncrypted(secret: secret, encryptionMasterKey: encryptionMasterKey)
    }

    /// The method's name without what it holds.
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

    /// Nothing to look into: `dump` must not show a secret either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Gets authorizations for channels the application's own way; called where ``AuthMethod`` says.
@preconcurrency
public protocol Authorizer: Sendable {
    /// Gets the authorization for one channel on the connection that has this socket id.
    ///
    /// Call the handler once, on any thread, with the authorization, or with nil when there is none: the subscription then
    /// fails. A call that comes too late or twice is ignored.
    func fetchAuthValue(
        socketID: String, channelName: String, completionHandler: @escaping @Sendable (PusherAuth?) -> Void)
}

/// Builds the request that asks for an authorization; called where ``AuthMethod`` says.
@preconcurrency
public protocol AuthRequestBuilderProtocol: Sendable {
    /// The request for one channel on the connection that has this socket id; nil makes the subscription fail.
    func requestFor(socketID: String, channelName: String) -> URLRequest?
}
