import Foundation
import Logging

/// The routes that every backend has, for any web framework: authorizing channels and users, and receiving webhooks.
///
/// ```swift
/// let reply = await handler.respond(to: body) { request in
///     guard let channel = request.channelName else { return .user(id: user.id) }
///     guard user.mayJoin(channel) else { return .refused }
///     return channel.hasPrefix("presence-") ? .user(id: user.id) : .allowed
/// }
/// ```
///
/// A malformed request gets 400, a refusal 403, and a decision that throws 503 with `Retry-After`, which has clients ask again. What
/// is the backend's fault is logged. May be used from any thread.
public struct PusherAuthHandler: Sendable {
    /// What the backend decides about a request.
    public struct Decision: Sendable {
        fileprivate enum Kind {
            case refused
            case allowed
            case user(String, (any Encodable & Sendable)?, [String])
        }

        fileprivate let kind: Kind

        /// The connection may not do what it asked for.
        public static let refused = Decision(kind: .refused)
        /// The connection may join the private or encrypted channel.
        public static let allowed = Decision(kind: .allowed)

        /// Returns the decision that the connection may join the channel, or sign in, as this user.
        ///
        /// - Parameters:
        ///   - id: The user's id, 128 characters at most.
        ///   - info: The user's description for a presence channel's other members, a JSON object of at most 1 KB; nil for none.
        ///   - watchlist: For a sign-in, the users, 100 at most, whose coming and going the user is notified of.
        public static func user(id: String, info: (any Encodable & Sendable)? = nil, watchlist: [String] = []) -> Decision {
            Decision(kind: .user(id, info, watchlist))
        }
    }

    /// A response for the web framework to send.
    public struct Response: Equatable, Sendable {
        /// The HTTP status.
        public let status: Int
        /// The header fields.
        public let headers: [String: String]
        /// The body, which is JSON.
        public let body: Data
    }

    private let authenticator: PusherAuthenticator
    private let verifier: PusherWebhookVerifier
    private let retryAfter: Duration
    private let logger: Logger

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - authenticator: Signs what the backend allows.
    ///   - verifier: Verifies webhooks.
    ///   - retryAfter: The time after which a client or a server may ask again if a decision or a webhook's handling throws.
    ///   - logger: Gets a line for each response of 400 or more that isn't a refusal.
    public init(
        authenticator: PusherAuthenticator, verifier: PusherWebhookVerifier, retryAfter: Duration = .seconds(5),
        logger: Logger = Logger(label: "pusher-channels")
    ) {
        self.authenticator = authenticator
        self.verifier = verifier
        self.retryAfter = max(retryAfter, .seconds(1))
        self.logger = logger
    }

    /// Responds to a client's request to authorize it for a channel, or to sign its user in.
    ///
    /// - Parameters:
    ///   - body: The request's body.
    ///   - isolation: The actor that `authorize` runs on, by default the caller's.
    ///   - authorize: Decides. The request is checked before; it names no channel if a user signs in.
    public func respond(
        to body: some Sequence<UInt8>, isolation: isolated (any Actor)? = #isolation,
        authorize: (PusherAuthRequest) async throws -> Decision
    ) async -> Response {
        let request: PusherAuthRequest
        do {
            request = try PusherAuthRequest(body: body)
            try authenticator.check(request)
        } catch {
            return refusal(400, error.message, error)
        }
        let decision: Decision
        do {
            decision = try await authorize(request)
        } catch {
            return unavailable(error)
        }
        do {
            guard let json = try signed(request, decision) else { return response(403, error: "refused") }
            return response(200, json)
        } catch {
            // The request was checked: the decision is at fault, such as a user's id that is too long.
            return refusal(500, "internal error", error)
        }
    }

    /// Responds to a webhook: 401 if it isn't the server's, 200 if it was handled, and 503 if the handler throws, after which the
    /// server sends it again.
    ///
    /// - Parameters:
    ///   - body: The request's body, byte for byte as received.
    ///   - header: Returns a header field of the request; names may differ in case.
    ///   - isolation: The actor that `handle` runs on, by default the caller's.
    ///   - handle: Handles the webhook. An event may come twice.
    public func respond(
        toWebhook body: some Sequence<UInt8>, header: (String) -> String?, isolation: isolated (any Actor)? = #isolation,
        handle: (PusherWebhook) async throws -> Void
    ) async -> Response {
        let webhook: PusherWebhook
        do {
            webhook = try verifier.verify(body: body, key: header("X-Pusher-Key"), signature: header("X-Pusher-Signature"))
        } catch {
            return refusal(error == .malformedBody ? 400 : 401, "not a webhook of this app", error)
        }
        do {
            try await handle(webhook)
        } catch {
            return unavailable(error)
        }
        return response(200, Data("{}".utf8))
    }

    private func signed(_ request: PusherAuthRequest, _ decision: Decision) throws(PusherError) -> Data? {
        switch (decision.kind, request.channelName) {
        case (.refused, _): return nil
        case (.user(let id, let info, let watchlist), nil):
            return try authenticator.authenticateUser(request, userID: id, userInfo: info, watchlist: watchlist).json
        case (.user(let id, let info, _), let channel?) where ChannelName(channel).kind == .presence:
            return try authenticator.authorizePresenceChannel(request, userID: id, userInfo: info).json
        case (.user, _), (.allowed, _): return try authenticator.authorizeChannel(request).json
        }
    }

    private func unavailable(_ error: any Error) -> Response {
        refusal(503, "try again", error, headers: ["Retry-After": "\(retryAfter.components.seconds)"])
    }

    private func refusal(_ status: Int, _ words: String, _ error: any Error, headers: [String: String] = [:]) -> Response {
        let level: Logger.Level = status < 500 ? .notice : .error
        logger.log(level: level, "request refused", metadata: ["status": "\(status)", "error": "\(text(of: error).asMessage)"])
        return response(status, error: words, headers: headers)
    }

    private func response(_ status: Int, error: String, headers: [String: String] = [:]) -> Response {
        response(status, Data(JSONValue.object(["error": .string(error)]).text.utf8), headers: headers)
    }

    private func response(_ status: Int, _ body: Data, headers: [String: String] = [:]) -> Response {
        Response(
            status: status, headers: headers.merging(["Content-Type": "application/json"]) { first, _ in first }, body: body)
    }
}
