import Foundation

/// An HTTP endpoint that authorizes, with headers and parameters that may have to be fetched first.
///
/// ```swift
/// var endpoint = AuthEndpoint("https://example.com/broadcasting/auth")
/// endpoint.headers = { context in ["Authorization": "Bearer \(try await tokens.token(fresh: context.isRetry))"] }
/// ```
///
/// An answer with status 401 is taken to mean that a token has expired: headers and parameters are fetched once more, and the
/// endpoint asked again. Its description shows no header.
public struct AuthEndpoint: Sendable, CustomStringConvertible {
    /// The form in which the request carries its parameters.
    public enum Encoding: Equatable, Sendable {
        /// An HTML form, which most backends expect.
        case form
        /// A JSON object of strings.
        case json
    }

    /// The address.
    public var url: String {
        get { secretURL.value }
        set { secretURL.value = newValue }
    }
    /// The form in which the request carries its parameters.
    public var encoding: Encoding = .form
    /// Header fields of the request. Called on no particular thread. Errors that it throws fail the authorization, which is tried again
    /// after a while unless that can't help: as of ``AuthMethod/customHandler(_:)``, a ``PusherError`` with the code of a refusal is final,
    /// and after one with 401 it is called once more at once.
    public var headers: @Sendable (AuthorizationContext) async throws -> [String: String] = { _ in [:] }
    /// Sent beside `socket_id` and `channel_name`, in whose place they don't come. Called like ``headers``.
    public var parameters: @Sendable (AuthorizationContext) async throws -> [String: String] = { _ in [:] }
    private var secretURL: Secret<String>

    /// Creates an endpoint that gets a form and no headers of its own.
    public init(_ url: String) {
        secretURL = Secret(url)
    }

    /// The address, without a password or a query.
    public var description: String { url.addressWithoutSecrets }
}

/// The connection and the channel for which an authorization is requested.
public struct AuthorizationContext: Equatable, Sendable {
    /// The ID of the connection that wants the authorization.
    public let socketID: String
    /// The name of the channel to join; nil where a user signs in.
    public let channelName: String?
    /// True where the endpoint has just responded with 401: what was good until now, such as a token, no longer is.
    public let isRetry: Bool
}
