import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reads the response of an authorization endpoint.
enum AuthResponse {
    /// More than any authorization needs, presence data included. A longer response is something else, such as a web page.
    static let maximumSize = 1 << 20

    static func read<Auth>(
        _ data: Data?, _ response: URLResponse?, _ error: (any Error)?,
        _ read: (JSONValue) throws(Unusable) -> Auth
    ) -> Result<Auth, AuthorizationFailure> {
        if let error {
            return .failure(
                AuthorizationFailure(
                    message: "the authorization endpoint could not be asked: \(text(of: error))",
                    network: AuthorizationFailure.NetworkFailure(error),
                    isRetryable: AuthRetry.mayHelp(after: error)))
        }
        guard let response = response as? HTTPURLResponse else {
            return .failure(AuthorizationFailure(message: "the authorization endpoint gave no HTTP response", isRetryable: true))
        }
        var failure = AuthorizationFailure(
            message: "the authorization endpoint answered with status \(response.statusCode)",
            url: response.url?.absoluteString, status: response.statusCode,
            isRetryable: HTTPStatus.isTemporary(response.statusCode), retryAfter: response.retryAfter)
        if let size = data?.count, size > maximumSize {
            failure.message = "the authorization endpoint answered with \(size) bytes; at most \(maximumSize) are read"
            return .failure(failure)
        }
        let body = String(decodingWithoutMark: data ?? Data())
        failure.body = body
        guard (200..<300).contains(response.statusCode) else { return .failure(failure) }
        failure.body = nil  // It was meant to hold an authorization and may contain part of one.
        do throws(Unusable) {
            let json = try parse(body)
            guard let refusal = RefusalInBody(json, insteadOf: "auth") else { return .success(try read(json)) }
            failure.message += " and \(refusal)"
            failure.status = refusal.status ?? failure.status
            failure.isRetryable = refusal.status.map(HTTPStatus.isTemporary) ?? true
        } catch {
            failure.message += ", but \(error.problem)"
            failure.isRetryable = true  // Probably a gateway's page, not the endpoint's own response.
        }
        return .failure(failure)
    }

    /// The reason why a response holds no authorization.
    struct Unusable: Error {
        let problem: String
    }

    private static func parse(_ body: String) throws(Unusable) -> JSONValue {
        guard !body.isEmpty else { throw Unusable(problem: "with an empty body") }
        do {
            return try JSONValue(parsing: body)
        } catch {
            throw Unusable(problem: "its body is not JSON")
        }
    }

    /// Returns a member that may be missing or null. Throws if it is anything but a string, which is an endpoint's mistake: if
    /// the member were ignored, the server would only say that it refuses the signature.
    static func optionalString(_ name: String, in json: JSONValue) throws(Unusable) -> String? {
        switch json[name] {
        case nil, .null: return nil
        case .string(let string): return string
        default: throw Unusable(problem: "its \"\(name)\" isn't a string")
        }
    }

    /// Returns a member that must be there.
    static func string(_ name: String, in json: JSONValue) throws(Unusable) -> String {
        guard let string = json[name]?.stringValue else { throw Unusable(problem: "its body has no string \"\(name)\"") }
        return string
    }
}

extension AuthorizationFailure.NetworkFailure {
    /// Returns the failure that a session's error stands for; nil for any other error.
    init?(_ error: any Error) {
        // Not cast to a `URLError`, because on Linux no `NSError` can be.
        let error = error as NSError
        guard error.domain.hasBytes(of: NSURLErrorDomain) else { return nil }
        self.init(code: error.code, cause: error.userInfo[NSUnderlyingErrorKey] as? TransportError)
    }
}
