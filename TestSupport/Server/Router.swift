import Foundation
import PusherChannels

/// Answers requests to a path of a ``LocalServer``.
public protocol ServerRoute: Sendable {
    /// Answers a request; may be called from any thread, for several requests at once. An error becomes a 500.
    func respond(to request: RecordedRequest) async throws -> StubResponse
}

extension ServerRoute {
    /// Returns this route with a response so much later by the server's clock.
    public func delayed(by delay: Duration) -> some ServerRoute {
        ClosureRoute { try await respond(to: $0).delayed(by: delay) }
    }

    /// Returns this route with its response held until the gate opens.
    public func held(by gate: Gate) -> some ServerRoute {
        ClosureRoute { try await respond(to: $0).held(by: gate) }
    }
}

/// The paths that a test adds to a ``LocalServer``. All members may be called from any thread, while the server runs.
public final class Router: Sendable {
    private struct Entry {
        let key: String
        let matcher: RequestMatcher
        let route: any ServerRoute
        /// Where it was added, `Tests.swift:12`.
        let location: String
        var isAsked = false
        var name: String { "route \(key) (\(location))" }
        /// Paths without names for parts come before those with.
        var isTemplate: Bool { key.contains("{") }
    }

    private let entries = Locked<[Entry]>([])
    private let thrown = Locked(FirstElements<Finding>())

    init() {}

    /// The route of a method and a path, `GET /users/{id}`, or of a path whatever the method, `/hello`; `nil` removes it.
    ///
    /// A path is compared as a whole, without the query; what stands for `{id}` is in ``RecordedRequest/pathParameters``. Where
    /// several fit, one without such names comes first, then the one added last. All come before what the server itself has.
    public subscript(key: String, file: String = #fileID, line: Int = #line) -> (any ServerRoute)? {
        get { entries.withLock { $0.last { $0.key == key }?.route } }
        set {
            let entry = newValue.map {
                Entry(key: key, matcher: RecordedRequest.matcher(key), route: $0, location: sourceLocation(file, line))
            }
            // What is replaced is let go of after the lock.
            entries.letGo { entries in
                let before = entries
                entries = before.filter { $0.key != key } + [entry].compactMap { $0 }
                return before
            }
        }
    }

    /// Answers requests by a closure; `key` is a method and a path, or a path, as in the subscript.
    public func on(
        _ key: String, file: String = #fileID, line: Int = #line,
        _ handler: @escaping @Sendable (RecordedRequest) async throws -> StubResponse
    ) {
        self[key, file, line] = ClosureRoute(handler: handler)
    }

    /// The route of a request, and the request with what stands for the names in its path.
    func route(of request: RecordedRequest) -> (any ServerRoute, RecordedRequest)? {
        let entries = entries.withLock { $0 }
        for entry in entries.reversed().filter({ !$0.isTemplate }) + entries.reversed().filter(\.isTemplate) {
            let outcome = entry.matcher.outcome(of: request)
            guard outcome.isMatch else { continue }
            var request = request
            request.pathParameters = outcome.pathParameters
            self.entries.withLock { entries in
                for index in entries.indices where entries[index].key == entry.key { entries[index].isAsked = true }
            }
            return (watched(entry), request)
        }
        return nil
    }

    /// The route of an entry, which writes down what it throws.
    private func watched(_ entry: Entry) -> any ServerRoute {
        ClosureRoute { [self] request in
            do {
                return try await entry.route.respond(to: request)
            } catch let error where !(error is CancellationError) {
                thrown.withLock { $0.append(Finding(.error, "\(entry.name) threw when asked \(request): \(error)")) }
                throw error
            }
        }
    }

    /// The routes, each with the reasons why it doesn't answer a request.
    func nearMisses(_ request: RecordedRequest) -> [StubList.NearMiss] {
        entries.withLock { $0 }.reversed().map { ($0.name, $0.matcher.reasonsAgainst(request)) }
    }

    /// The findings for a test's end: routes that were never asked, or threw.
    var findings: [Finding] {
        let unused = entries.withLock { $0 }.filter { !$0.isAsked }.map { Finding(.unusedStub, "\($0.name) was never asked") }
        return unused + thrown.withLock { $0.findings { $0 } }
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
        handler: @escaping @Sendable (RecordedRequest) async throws -> Value
    ) {
        self.status = status
        self.headers = headers
        body = { try StubResponse.encode(try await handler($0)) }
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
        handler: @escaping @Sendable (RecordedRequest) async throws -> Data
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
