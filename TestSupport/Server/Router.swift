import Foundation
import PusherChannels

/// Answers requests to a path of a ``LocalServer``.
public protocol ServerRoute: Sendable {
    /// Answers a request; may be called from any thread, for several requests at once. An error becomes a 500.
    func respond(to request: RecordedRequest) async throws -> StubResponse
}

/// The paths that a test adds to a ``LocalServer``. All members may be called from any thread, while the server runs.
public final class Router: Sendable {
    private let routes = Locked<[String: any ServerRoute]>([:])

    init() {}

    /// The route of a path, compared as a whole and as sent, without the query; `nil` removes it.
    ///
    /// It goes before what the server itself has at that path.
    public subscript(path: String) -> (any ServerRoute)? {
        get { routes.withLock { $0[path] } }
        set { routes.withLock { $0[path] = newValue } }
    }

    /// Answers requests to a path by a closure.
    public func on(_ path: String, _ handler: @escaping @Sendable (RecordedRequest) async throws -> StubResponse) {
        self[path] = ClosureRoute(handler: handler)
    }
}

private struct ClosureRoute: ServerRoute {
    let handler: @Sendable (RecordedRequest) async throws -> StubResponse

    func respond(to request: RecordedRequest) async throws -> StubResponse {
        try await handler(request)
    }
}

/// Answers with JSON: `router["/hello"] = JSONResponse { _ in ["Hello": "World"] }`.
public struct JSONResponse: ServerRoute {
    private let status: Int
    private let headers: [String: String]
    private let body: @Sendable (RecordedRequest) async throws -> Data

    /// Creates a route whose answer is what `handler` returns, encoded with the keys in order.
    public init<Value: Encodable & SendableMetatype>(
        status: Int = 200, headers: [String: String] = [:],
        _ handler: @escaping @Sendable (RecordedRequest) async throws -> Value
    ) {
        self.status = status
        self.headers = headers
        body = { request in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(try await handler(request))
        }
    }

    /// Answers a request.
    public func respond(to request: RecordedRequest) async throws -> StubResponse {
        let headers = ["Content-Type": "application/json"].merging(headers, uniquingKeysWith: { $1 })
        return StubResponse(status: status, headers: headers, body: try await body(request))
    }
}

/// Answers with bytes.
public struct DataResponse: ServerRoute {
    private let status: Int
    private let headers: [String: String]
    private let handler: @Sendable (RecordedRequest) async throws -> Data

    /// Creates a route whose answer is what `handler` returns.
    public init(
        status: Int = 200, contentType: String = "application/octet-stream", headers: [String: String] = [:],
        _ handler: @escaping @Sendable (RecordedRequest) async throws -> Data
    ) {
        self.status = status
        self.headers = ["Content-Type": contentType].merging(headers, uniquingKeysWith: { $1 })
        self.handler = handler
    }

    /// Answers a request.
    public func respond(to request: RecordedRequest) async throws -> StubResponse {
        StubResponse(status: status, headers: headers, body: try await handler(request))
    }
}
