import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests an authorization from an ``AuthEndpoint``, twice if the first response is 401.
struct EndpointCall: Sendable {
    let endpoint: AuthEndpoint
    let socketID: String
    let channel: String?
    let session: any HTTPSession

    func run<Auth: Sendable>(
        in environment: PusherEnvironment,
        reading read: @escaping @Sendable (JSONValue) throws(AuthResponse.Unusable) -> Auth,
        _ completion: @escaping AuthCall.Completion<Auth>
    ) -> AuthCall.Cancel {
        let task = environment.spawn {
            let first = await ask(isRetry: false, read)
            guard case .failure(let failure) = first, failure.status == 401 else { return completion(first) }
            completion(await ask(isRetry: true, read))
        }
        return { task.cancel() }
    }

    private func ask<Auth: Sendable>(
        isRetry: Bool, _ read: @escaping @Sendable (JSONValue) throws(AuthResponse.Unusable) -> Auth
    ) async -> Result<Auth, AuthorizationFailure> {
        let request: URLRequest?
        do {
            request = try await makeRequest(isRetry: isRetry)
        } catch {
            return .failure(AuthCall.failure("headers or parameters for \(endpoint) could not be computed", of: error))
        }
        let outcome = OneShot<Result<Auth, AuthorizationFailure>>()
        let cancel = AuthCall.send(
            request, ifNone: "\(endpoint) is not an http address", on: session, reading: read
        ) { outcome.give(.success($0)) }
        do {
            return try await outcome.value(cancelling: cancel)
        } catch {
            return .failure(AuthorizationFailure(message: "the authorization was cancelled"))
        }
    }

    private func makeRequest(isRetry: Bool) async throws -> URLRequest? {
        let context = AuthorizationContext(socketID: socketID, channelName: channel, isRetry: isRetry)
        let headers = try await endpoint.headers(context)
        var fields = [(name: "socket_id", value: socketID)]
        if let channel { fields.append(("channel_name", channel)) }
        let own = Set(fields.map { Name($0.name) })
        fields += try await endpoint.parameters(context).filter { !own.contains(Name($0.key)) }
            .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        // The code that fetched them may not have noticed a cancellation.
        try Task.checkCancellation()
        var request = AuthRequest.make(endpoint: endpoint.url, fields: fields, encoding: endpoint.encoding)
        for (name, value) in headers {
            try Self.checkField(name, value)
            request?.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }

    /// Throws for a field that can't be sent. Foundation would silently leave it out, and the request would go out without its
    /// token.
    private static func checkField(_ name: String, _ value: String) throws(PusherError) {
        guard HTTPSyntax.isToken(name) else {
            throw PusherError(.invalidRequest, message: "\(name.debugDescription) isn't a valid header name")
        }
        guard HTTPSyntax.isFieldValue(value) else {
            let problem = "the value of the header \(name) has characters that a header can't have, such as the end of a line"
            throw PusherError(.invalidRequest, message: problem)
        }
    }
}
