import Foundation

/// An HTTP endpoint that authorizes, with headers and parameters that may have to be fetched first.
///
/// ```swift
/// var endpoint = AuthEndpoint("https://example.com/broadcasting/auth")
/// endpoint.headers = { question in ["Authorization": "Bearer \(try await tokens.token(fresh: question.isRetry))"] }
/// ```
///
/// An answer with status 401 is taken to mean that a token has expired: headers and parameters are fetched once more, and the
/// endpoint asked again. Its description shows no header.
public struct AuthEndpoint: Sendable, CustomStringConvertible {
    /// What the endpoint is asked.
    public struct Question: Equatable, Sendable {
        /// The connection that wants the authorization.
        public let socketID: String
        /// The channel it wants to join; nil where a user signs in.
        public let channelName: String?
        /// Whether the endpoint has answered 401 just before: what was good until now, such as a token, no longer is.
        public let isRetry: Bool
    }

    /// How the question is sent.
    public enum Encoding: Equatable, Sendable {
        /// As an HTML form, what most backends expect.
        case form
        /// As a JSON object of strings.
        case json
    }

    /// The address.
    public var url: String {
        get { secretURL.value }
        set { secretURL.value = newValue }
    }
    /// How the question is sent.
    public var encoding: Encoding = .form
    /// Header fields of the request. Called on no particular thread; what it throws fails the authorization, which is tried again
    /// after a while.
    public var headers: @Sendable (Question) async throws -> [String: String] = { _ in [:] }
    /// Sent beside `socket_id` and `channel_name`. Called like ``headers``.
    public var parameters: @Sendable (Question) async throws -> [String: String] = { _ in [:] }
    private var secretURL: Secret<String>

    /// Creates an endpoint that gets a form and no headers of its own.
    public init(_ url: String) {
        secretURL = Secret(url)
    }

    /// The address, without a password or a query.
    public var description: String { url.addressWithoutSecrets }
}
