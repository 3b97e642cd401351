import Foundation

/// An HTTP authorization endpoint, with headers and parameters that may have to be fetched first.
///
/// ```swift
/// var endpoint = AuthEndpoint("https://example.com/broadcasting/auth")
/// endpoint.headers = { context in ["Authorization": "Bearer \(try await tokens.token(fresh: context.isRetry))"] }
/// ```
///
/// A response with status 401 is taken to mean that a token has expired: headers and parameters are fetched once more, and the
/// request is repeated. The description shows no headers.
public struct AuthEndpoint: Sendable, CustomStringConvertible {
    /// The encoding of the request's parameters.
    public enum Encoding: Equatable, Sendable {
        /// An HTML form, which most backends expect.
        case form
        /// A JSON object of strings.
        case json
    }

    /// The endpoint's address.
    public var url: String {
        get { secretURL.value }
        set { secretURL.value = newValue }
    }
    /// The encoding of the request's parameters.
    public var encoding: Encoding = .form
    /// The header fields of the request. Called on no particular thread. If it throws, the authorization fails, and is retried
    /// after a while unless that can't help. As for ``AuthMethod/customHandler(_:)``, a ``PusherError`` with the code of a
    /// refusal is final, and after one with 401 the closure is called once more at once.
    public var headers: @Sendable (AuthorizationContext) async throws -> [String: String] = { _ in [:] }
    /// The parameters that are sent in addition to `socket_id` and `channel_name`, which they can't replace. Called like
    /// ``headers``.
    public var parameters: @Sendable (AuthorizationContext) async throws -> [String: String] = { _ in [:] }
    private var secretURL: Secret<String>

    /// Creates an endpoint that gets a form and no additional headers.
    public init(_ url: String) {
        secretURL = Secret(url)
    }

    /// The address, without a password or a query.
    public var description: String { url.addressWithoutSecrets }
}

/// The connection and the channel for which an authorization is requested.
public struct AuthorizationContext: Equatable, Sendable {
    /// The id of the connection that wants the authorization.
    public let socketID: String
    /// The name of the channel to join; nil when a user signs in.
    public let channelName: String?
    /// Indicates whether the endpoint has just responded with 401: what was valid until now, such as a token, no longer is.
    public let isRetry: Bool
}
