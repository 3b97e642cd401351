import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests an authorization, over HTTP or from the application's code; shared by channels and users.
enum AuthCall {
    typealias Completion<Auth> = @Sendable (Result<Auth, AuthorizationFailure>) -> Void
    typealias Cancel = @Sendable () -> Void

    static func send<Auth>(
        _ request: URLRequest?, ifNone problem: String, on session: any HTTPSession,
        reading read: @escaping @Sendable (JSONValue) throws(AuthResponse.Unusable) -> Auth,
        _ completion: @escaping Completion<Auth>
    ) -> Cancel {
        guard let request else {
            completion(.failure(AuthorizationFailure(message: problem)))
            return {}
        }
        let task = session.dataTask(with: request) { data, response, error in
            completion(AuthResponse.read(data, response, error, read))
        }
        task.resume()
        return { task.cancel() }
    }

    static func run<Auth: Sendable>(
        in environment: PusherEnvironment, _ completion: @escaping Completion<Auth>,
        _ handler: @escaping @Sendable () async throws -> Auth
    ) -> Cancel {
        let task = environment.spawn {
            do {
                completion(.success(try await handler()))
            } catch {
                completion(.failure(failure("the authorization handler failed", of: error)))
            }
        }
        return { task.cancel() }
    }

    /// Returns what was signed with the client's own secret, or why it wasn't.
    static func signed<Auth>(_ sign: () throws(PusherError) -> Auth) -> Result<Auth, AuthorizationFailure> {
        Result(catching: sign).mapError { failure("the client signs nothing for this connection", of: $0) }
    }

    /// Returns the failure for an error that the application's code threw. The error's code, if any, becomes the status; the
    /// message doesn't repeat it.
    static func failure(_ problem: String, of error: any Error) -> AuthorizationFailure {
        let told = error as? PusherError
        return AuthorizationFailure(
            message: "\(problem): \(told?.message ?? text(of: error))", status: told?.code,
            network: AuthorizationFailure.NetworkFailure(error), isRetryable: AuthRetry.mayHelp(after: error),
            retryAfter: told?.retryAfter)
    }
}

/// The request an authorization endpoint expects: a POST.
enum AuthRequest {
    /// Longer than any wait: the machine's deadline, which the application chooses, ends the wait and cancels the request. The
    /// default of `URLRequest`, 60 s, would end longer waits.
    static let timeout: TimeInterval = 24 * 60 * 60

    static func make(
        endpoint: String, fields: [(name: String, value: String)], encoding: AuthEndpoint.Encoding = .form
    ) -> URLRequest? {
        guard let url = URL(string: endpoint), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host != nil
        else { return nil }
        var request = URLRequest(url: url, timeoutInterval: timeout)
        request.httpMethod = "POST"
        switch encoding {
        case .form:
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(form(fields).utf8)
        case .json:
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            let members = fields.map { ($0.name, JSONValue.string($0.value)) }
            request.httpBody = Data(
                JSONValue.object(Dictionary(members.map { (Name($0), $1) }, uniquingKeysWith: { $1 })).text.utf8)
        }
        return request
    }

    static func form(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\($0.name.percentEncoded())=\($0.value.percentEncoded())" }.joined(separator: "&")
    }
}
