import Foundation

/// Gets the authorization to sign a user in with the method that the application chose.
struct UserAuthorizer: Sendable {
    typealias Completion = @Sendable (Result<PusherUserAuth, AuthorizationFailure>) -> Void

    let method: UserAuthMethod
    let key: String
    let environment: PusherEnvironment

    /// Requests an authorization; `completion` may be called at once, on any thread, more than once, or never. Returns a closure
    /// that cancels the request.
    func authorize(
        socketID id: SocketID, session: any HTTPSession, completion: @escaping Completion
    ) -> AuthCall.Cancel {
        let socketID = id.text
        switch method {
        case .endpoint(let endpoint):
            let request = AuthRequest.make(endpoint: endpoint, fields: [("socket_id", socketID)])
            return AuthCall.send(
                request, ifNone: "\(endpoint.addressWithoutSecrets) is not an http address", on: session, reading: Self.read,
                completion)
        case .customEndpoint(let endpoint):
            let call = EndpointCall(endpoint: endpoint, socketID: socketID, channel: nil, session: session)
            return call.run(in: environment, reading: Self.read, completion)
        case .requestBuilder(let build):
            return AuthCall.send(
                build(socketID), ifNone: "the request builder built no request for the user", on: session, reading: Self.read,
                completion)
        case .inline(let secret, _) where secret.isEmpty:
            completion(.failure(.emptySecret))
            return {}
        case .inline(let secret, let userData):
            let signed = AuthCall.signed { () throws(PusherError) in
                let auth = try Signature.user(userData, socketID: socketID, key: key, secret: secret)
                return PusherUserAuth(auth: auth, userData: userData)
            }
            completion(signed)
            return {}
        case .customHandler(let handler):
            return AuthCall.run(in: environment, completion) { try await handler(socketID) }
        case .noMethod:
            let message = "the client has no way to sign a user in: set PusherClientOptions.userAuthMethod"
            completion(.failure(AuthorizationFailure(message: message)))
            return {}
        }
    }

    private static func read(_ json: JSONValue) throws(AuthResponse.Unusable) -> PusherUserAuth {
        PusherUserAuth(auth: try AuthResponse.string("auth", in: json), userData: try AuthResponse.string("user_data", in: json))
    }
}
