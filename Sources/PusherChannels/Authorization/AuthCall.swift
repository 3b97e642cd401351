import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks for an authorization, over HTTP or by the application's code; what channels and users have in common.
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
                completion(.failure(failure(of: error)))
            }
        }
        return { task.cancel() }
    }

    /// An error of unknown sort may be over next time; a refusal is one for good.
    private static func failure(of error: any Error) -> AuthorizationFailure {
        let status = (error as? PusherError)?.code
        let isRefusal = status.map { (400..<500).contains($0) } ?? false
        return AuthorizationFailure(
            message: "the authorization handler failed: \(text(of: error))", status: status, isRetriable: !isRefusal)
    }
}
