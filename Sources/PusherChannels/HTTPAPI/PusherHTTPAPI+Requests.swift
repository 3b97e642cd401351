import Foundation

/// Calls that only some servers support.
extension PusherHTTPAPI {
    /// Makes a signed GET request, for a server's additions to the API.
    ///
    /// - Parameters:
    ///   - path: The path after `/apps/{id}`, such as `/connections`, not percent-encoded.
    ///   - parameters: The query parameters. Those of the signature, which begin with `auth_` or are `body_md5`, are refused, and
    ///     so are names that differ only in case.
    /// - Returns: The response's body.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func get(_ path: String, parameters: [String: String] = [:]) async throws -> Data {
        try await response(to: .get, path, parameters)
    }

    /// Makes a signed DELETE request, for a server's additions to the API, as ``get(_:parameters:)`` does. It is retried as a GET
    /// request is, because deleting twice does no harm.
    ///
    /// - Parameters:
    ///   - path: The path after `/apps/{id}`, not percent-encoded.
    ///   - parameters: The query parameters.
    /// - Returns: The response's body.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func delete(_ path: String, parameters: [String: String] = [:]) async throws -> Data {
        try await response(to: .delete, path, parameters)
    }

    private func response(
        to method: HTTPAPICall.Method, _ path: String, _ parameters: [String: String]
    ) async throws -> Data {
        for name in parameters.keys where name.lowercased().begins(with: "auth_") || name.lowercased().hasBytes(of: "body_md5") {
            throw PusherError(.invalidRequest, message: "\(name.inLogLine()) is the signature's own parameter")
        }
        // Parameters are signed in lower case, in the order of their names.
        guard Set(parameters.keys.map { Name($0.lowercased()) }).count == parameters.count else {
            throw PusherError(.invalidRequest, message: "parameters whose names differ in case alone can't be signed")
        }
        return try await client.response(to: .get(try Self.checked(path), parameters, method: method, member: nil)).body
    }

    /// Makes a signed POST request, for a server's additions to the API. It is retried only as a publish would be.
    ///
    /// - Parameters:
    ///   - path: The path after `/apps/{id}`, not percent-encoded.
    ///   - body: The body: a `String` is sent as it is, `Data` as UTF-8 text, anything else as JSON.
    /// - Returns: The response's body.
    /// - Throws: A ``PusherError``, or `CancellationError`.
    public func post(_ path: String, body: some Encodable) async throws -> Data {
        let text = try encoder.text(of: body, what: "the body")
        return try await client.response(to: .post(try Self.checked(path), text, repetition: .again, member: nil)).body
    }

    private static func checked(_ path: String) throws(PusherError) -> String {
        try HTTPAPICall.path(path.split(separator: "/").map(String.init))
    }
}
