import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gets the authorization for a channel with the method that the application chose.
struct ChannelAuthorizer: Sendable {
    typealias Completion = @Sendable (Result<PusherAuth, AuthorizationFailure>) -> Void
    typealias Cancel = AuthCall.Cancel

    let method: AuthMethod
    let key: String
    let environment: PusherEnvironment

    /// Requests an authorization; `completion` may be called at once, on any thread, more than once by careless application code,
    /// or never. The caller sets the deadline and recognizes a stale reply. `channelUser` describes this client on presence
    /// channels that are signed locally.
    func authorize(
        channel: String, socketID: SocketID, session: any HTTPSession, channelUser: () -> JSONValue?,
        completion: @escaping Completion
    ) -> Cancel {
        if ChannelName(channel).kind == .encrypted {
            guard SecretBox.isSupported else {
                completion(.failure(.init(message: "encrypted channels such as \(channel) are not supported on this platform")))
                return {}
            }
            return ask(channel, socketID, session, channelUser) { completion($0.flatMap(Self.checkKey)) }
        }
        return ask(channel, socketID, session, channelUser, completion)
    }

    private static func checkKey(_ auth: PusherAuth) -> Result<PusherAuth, AuthorizationFailure> {
        if auth.sharedSecret.map(SharedSecret.init)?.bytes != nil { return .success(auth) }
        return .failure(.init(message: "the authorization has no shared_secret of 32 bytes in base64", isRetryable: true))
    }

    private func ask(
        _ channel: String, _ id: SocketID, _ session: any HTTPSession, _ channelUser: () -> JSONValue?,
        _ completion: @escaping Completion
    ) -> Cancel {
        let socketID = id.text
        switch method {
        case .endpoint(let endpoint):
            let request = AuthRequest.make(endpoint: endpoint, fields: [("socket_id", socketID), ("channel_name", channel)])
            return AuthCall.send(
                request, ifNone: "\(endpoint.addressWithoutSecrets) is not an http address", on: session, reading: Self.read,
                completion)
        case .customEndpoint(let endpoint):
            let call = EndpointCall(endpoint: endpoint, socketID: socketID, channel: channel, session: session)
            return call.run(in: environment, reading: Self.read, completion)
        case .authRequestBuilder(let builder):
            let request = builder.requestFor(socketID: socketID, channelName: channel)
            return AuthCall.send(
                request, ifNone: "the request builder built no request for \(channel)", on: session, reading: Self.read,
                completion)
        case .authorizer(let authorizer):
            authorizer.fetchAuthValue(socketID: socketID, channelName: channel) { auth in
                completion(auth.map { .success($0) } ?? .failure(.init(message: "the authorizer gave nothing for \(channel)")))
            }
            return {}
        case .inline(let secret):
            completion(sign(channel, socketID: socketID, user: channelUser(), secret: secret, masterKey: nil))
            return {}
        case .inlineEncrypted(let secret, let masterKey):
            completion(sign(channel, socketID: socketID, user: channelUser(), secret: secret, masterKey: masterKey))
            return {}
        case .customHandler(let handler):
            return AuthCall.run(in: environment, completion) { try await handler(socketID, channel) }
        case .noMethod:
            let message = "\(channel) needs authorization, but the client has no auth method: set PusherClientOptions.authMethod"
            completion(.failure(.init(message: message)))
            return {}
        }
    }

    private static func read(_ json: JSONValue) throws(AuthResponse.Unusable) -> PusherAuth {
        PusherAuth(
            auth: try AuthResponse.string("auth", in: json),
            channelData: try AuthResponse.optionalString("channel_data", in: json),
            sharedSecret: try AuthResponse.optionalString("shared_secret", in: json))
    }

    private func sign(
        _ channel: String, socketID: String, user: JSONValue?, secret: String, masterKey: String?
    ) -> Result<PusherAuth, AuthorizationFailure> {
        guard !secret.isEmpty else { return .failure(.emptySecret) }
        var channelData: String?
        var sharedSecret: SharedSecret?
        switch ChannelName(channel).kind {
        case .public, .private:
            break
        case .presence:
            channelData = (user ?? ["user_id": .string(socketID), "user_info": [:]]).text
        case .encrypted:
            sharedSecret = masterKey.flatMap { SharedSecret.derived(for: channel, masterKey: $0) }
            if sharedSecret == nil {
                let message = "\(channel) needs AuthMethod.inline(secret:encryptionMasterKey:) with 32 bytes in base64"
                return .failure(AuthorizationFailure(message: message))
            }
        }
        return AuthCall.signed { () throws(PusherError) in
            let auth = try Signature.channel(channel, channelData: channelData, socketID: socketID, key: key, secret: secret)
            return PusherAuth(auth: auth, channelData: channelData, sharedSecret: sharedSecret?.base64)
        }
    }
}
