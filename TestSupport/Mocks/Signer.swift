import PusherChannels

/// A test's backend for authorization handlers, which signs channels and users as an app's own backend would.
///
/// ```swift
/// let signer = Signer(userID: "ann")
/// let pusher = harness.makePusher { options in
///     options.authMethod = .customHandler { try await signer.authorize(socketID: $0, channelName: $1) }
///     options.userAuthMethod = .customHandler { try await signer.authenticate(socketID: $0) }
/// }
/// ```
///
/// Its signatures are valid wherever the app is served, including `harness.server`. It refuses what the app denies, and fails
/// when a test says so. All members may be called from any thread.
public final class Signer: Authorizer, Sendable {
    private struct Failure {
        let error: any Error
        var times: Int
    }

    private struct State {
        /// The failures to come, in order.
        var failures: [Failure] = []
        var gate: Gate?
    }

    private let app: ServerApp
    private let userID: String?
    private let userInfo: (any Encodable & Sendable)?
    private let state = Locked(State())
    private let recorder = Recorder<PusherAuthRequest>()

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - app: The app whose key, secret, and master key it signs with, and whose denials it applies.
    ///   - userID: The id of the user who joins presence channels and signs in; `nil` for the socket id.
    ///   - userInfo: The user's description for the members of presence channels; `nil` for none.
    public init(app: ServerApp = .local, userID: String? = nil, userInfo: (any Encodable & Sendable)? = nil) {
        self.app = app
        self.userID = userID
        self.userInfo = userInfo
    }

    // MARK: Signing

    /// Signs for a channel.
    ///
    /// - Throws: The error that a test asked for; a `PusherError` with code 403 if the app denies the request;
    ///   `CancellationError` if the task is cancelled while the request is held; any error from a `PusherAuthenticator`.
    public func authorize(socketID: String, channelName: String) async throws -> PusherAuth {
        let request = PusherAuthRequest(socketID: socketID, channelName: channelName)
        let failure = try await take(request)
        return try sign(request, failure)
    }

    /// Signs for the user.
    ///
    /// - Throws: The errors of ``authorize(socketID:channelName:)``.
    public func authenticate(socketID: String) async throws -> PusherUserAuth {
        let request = PusherAuthRequest(socketID: socketID)
        if let failure = try await take(request) { throw failure }
        let userID = userID ?? socketID
        if app.denies(user: userID) { throw Self.refusal(403, of: "user \(userID)") }
        return try authenticator().authenticateUser(request, userID: userID)
    }

    /// Signs for a channel, for code under test that takes an `Authorizer`, which can't report errors.
    public func fetchAuthValue(
        socketID: String, channelName: String, completionHandler: @escaping @Sendable (PusherAuth?) -> Void
    ) {
        let request = PusherAuthRequest(socketID: socketID, channelName: channelName)
        let (failure, gate, tell) = arrive(request)
        defer { tell() }
        let reply: @Sendable () -> Void = { [self] in completionHandler(try? sign(request, failure)) }
        if let gate { gate.pass(reply) } else { reply() }
    }

    // MARK: Failures

    /// Refuses the next requests with an HTTP status, after any failures that were asked for before. An `Authorizer` can't report
    /// the status: each of its failures has none and is final.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - retryAfter: The time after which to retry, as in a `Retry-After` header.
    ///   - times: The number of requests.
    public func refuse(_ status: Int, retryAfter: Duration? = nil, times: Int = 1) {
        fail(Self.refusal(status, retryAfter: retryAfter, of: "the request"), times: times)
    }

    /// Fails the next requests, as if a connection were lost, after any failures that were asked for before.
    public func fail(_ error: any Error, times: Int = 1) {
        guard times > 0 else { return }
        state.withLock { $0.failures.append(Failure(error: error, times: times)) }
    }

    /// Holds requests from now on until the gate is opened.
    public func hold() -> Gate {
        let gate = Gate()
        state.withLock { $0.gate = gate }
        return gate
    }

    // MARK: Requests so far

    /// The requests so far, in order, including those that it refused.
    public var requests: [PusherAuthRequest] { recorder.all }

    /// Returns the next request that this method hasn't returned yet, waiting for it if necessary, by default for five seconds of
    /// real time at least.
    ///
    /// - Throws: ``NothingCame`` if none arrives in time; `CancellationError` if the task is cancelled.
    @discardableResult
    public func nextRequest(
        within patience: Duration = .seconds(5), file: String = #fileID, line: Int = #line
    ) async throws -> PusherAuthRequest {
        let wait = RecorderWait("request to sign", within: patience, at: sourceLocation(file, line))
        return try await recorder.next(wait) { _ in true }
    }

    // MARK: Implementation

    /// Records a request. The caller must call `tell`, which notifies those who wait for the request, once the gate holds the
    /// request, or at once if there is no gate.
    private func arrive(
        _ request: PusherAuthRequest
    ) -> (failure: (any Error)?, gate: Gate?, tell: @Sendable () -> Void) {
        let taken: (failure: (any Error)?, gate: Gate?) = state.withLock { state in
            guard let failure = state.failures.first else { return (nil, state.gate) }
            state.failures[0].times -= 1
            if failure.times == 1 { state.failures.removeFirst() }
            return (failure.error, state.gate)
        }
        return (taken.failure, taken.gate, recorder.note(request).tell)
    }

    private func take(_ request: PusherAuthRequest) async throws -> (any Error)? {
        let (failure, gate, tell) = arrive(request)
        if let gate { await gate.waitUntilOpen(held: tell) } else { tell() }
        try Task.checkCancellation()
        return failure
    }

    private func sign(_ request: PusherAuthRequest, _ failure: (any Error)?) throws -> PusherAuth {
        if let failure { throw failure }
        let channel = request.channelName ?? ""
        if app.denies(channel: channel) || !app.authorizes(request, userID) { throw Self.refusal(403, of: channel) }
        let authenticator = try authenticator()
        guard ChannelName(channel).kind == .presence else { return try authenticator.authorizeChannel(request) }
        return try authenticator.authorizePresenceChannel(request, userID: userID ?? request.socketID, userInfo: userInfo)
    }

    private func authenticator() throws -> PusherAuthenticator {
        let masterKey = try app.encryptionMasterKey.map { try EncryptionMasterKey(base64: $0) }
        return PusherAuthenticator(key: app.key, secret: app.secret, encryptionMasterKeys: masterKey.map { [$0] } ?? [])
    }

    private static func refusal(_ status: Int, retryAfter: Duration? = nil, of what: String) -> PusherError {
        PusherError(.authorization, code: status, message: "the signer refused \(what)", retryAfter: retryAfter)
    }
}
