import Foundation
import PusherChannels

/// A route that responds to requests to a path of a ``LocalServer``.
public protocol ServerRoute: Sendable {
    /// Responds to a request. May be called from any thread, and for several requests at once. An error becomes a 500.
    func respond(to request: RecordedRequest) async throws -> StubResponse
}

extension ServerRoute {
    /// Returns this route with its response delayed by the server's clock.
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
    /// A conversation with one client of a WebSocket route. It takes the client's request, the text messages that the client
    /// sends, and a closure that plays the server's steps.
    typealias Conversation =
        @Sendable (
            RecordedRequest, AsyncStream<String>, @escaping @Sendable (SocketStep) -> Void
        ) async throws -> Void

    private struct Entry<Target: Sendable>: Sendable {
        /// The route's key; `nil` if the route can't be replaced.
        let key: String?
        let matcher: RequestMatcher
        let target: Target
        /// The place where it was added, `Tests.swift:12`.
        let location: String
        let isAsked = Locked(false)
        var name: String { "route \(key ?? matcher.description) (\(location))" }
        /// Indicates whether the path has no named parts. Such paths come before all others.
        var isExact: Bool { key.map { !$0.contains("{") } ?? false }
    }

    private let entries = Locked<[Entry<any ServerRoute>]>([])
    private let conversations = Locked<[Entry<Conversation>]>([])
    private let thrown = Locked(FirstElements<Finding>())
    /// The names of the routes that are running, by the number of the call.
    private let calls = Locked<(names: [Int: String], made: Int)>(([:], 0))

    init() {}

    /// The route for a method and a path, such as `GET /users/{id}`, or for a path with any method, such as `/hello`; `nil`
    /// removes it.
    ///
    /// The whole path is compared, without the query. The value of `{id}` is in ``RecordedRequest/pathParameters``; in
    /// `/files/{path...}`, the name stands for the rest of the path. If several routes match, those without such names come
    /// first, then the one added last. All of them come before the server's own paths.
    public subscript(key: String, file: String = #fileID, line: Int = #line) -> (any ServerRoute)? {
        get { entries.withLock { $0.last { $0.key == key }?.target } }
        set {
            let entry = newValue.map {
                Entry(key: key, matcher: RecordedRequest.matcher(key), target: $0, location: sourceLocation(file, line))
            }
            // The replaced routes are released outside the lock.
            entries.release { entries in
                let before = entries
                entries = before.filter { $0.key != key } + [entry].compactMap { $0 }
                return before
            }
        }
    }

    /// Responds to requests by a closure. `key` is a method and a path, or a path, as in the subscript.
    public func on(
        _ key: String, file: String = #fileID, line: Int = #line,
        _ handler: @escaping @Sendable (RecordedRequest) async throws -> StubResponse
    ) {
        self[key, file, line] = ClosureRoute(handler: handler)
    }

    /// Responds by a closure to the requests that match a matcher, such as `.path(matching: "/users/[0-9]+")`. If several
    /// matchers match, the one added last is used.
    public func on(
        _ matcher: RequestMatcher, file: String = #fileID, line: Int = #line,
        _ handler: @escaping @Sendable (RecordedRequest) async throws -> StubResponse
    ) {
        let route = ClosureRoute(handler: handler)
        entries.withLock { $0.append(Entry(key: nil, matcher: matcher, target: route, location: sourceLocation(file, line))) }
    }

    /// Handles the WebSockets that match a matcher, such as `"/prices/{symbol}"`, with one call for each client.
    ///
    /// ```swift
    /// server.router.onWebSocket("/echo") { request, messages, play in
    ///     for await message in messages { play(.send(message)) }
    /// }
    /// ```
    ///
    /// `play` plays a step at once and on any thread: messages (`.send`, `.event`, `.establish`), `.controlFrame`, `.close` or
    /// `.drop`. Other steps become findings at the test's end. `messages` ends with the connection, and the call is then
    /// cancelled. When the call returns, the connection is closed with code 1000, and with 1011 if it throws. Pings get a pong; a
    /// binary message ends the connection with 1003.
    public func onWebSocket(
        _ matcher: RequestMatcher, file: String = #fileID, line: Int = #line,
        _ converse:
            @escaping @Sendable (
                _ request: RecordedRequest, _ messages: AsyncStream<String>, _ play: @escaping @Sendable (SocketStep) -> Void
            ) async throws -> Void
    ) {
        let location = sourceLocation(file, line)
        conversations.withLock { $0.append(Entry(key: nil, matcher: matcher, target: converse, location: location)) }
    }

    /// Returns the route for a request, and the request with the values of the names in its path.
    func route(of request: RecordedRequest) -> (any ServerRoute, RecordedRequest)? {
        Self.first(of: entries.withLock { $0 }, for: request).map { entry, request in
            (ClosureRoute { [self] in try await watching(entry, $0, entry.target.respond) }, request)
        }
    }

    func conversation(for request: RecordedRequest) -> (Conversation, RecordedRequest)? {
        Self.first(of: conversations.withLock { $0 }, for: request).map { entry, request in
            (
                { [self] request, messages, play in
                    try await watching(entry, request) { try await entry.target($0, messages, play) }
                }, request
            )
        }
    }

    private static func first<Target>(
        of entries: [Entry<Target>], for request: RecordedRequest
    ) -> (Entry<Target>, RecordedRequest)? {
        for entry in entries.reversed().filter(\.isExact) + entries.reversed().filter({ !$0.isExact }) {
            let outcome = entry.matcher.outcome(of: request)
            guard outcome.isMatch else { continue }
            var request = request
            request.pathParameters = outcome.pathParameters
            entry.isAsked.withLock { $0 = true }
            return (entry, request)
        }
        return nil
    }

    /// The names of the routes that are running now, in the order of the calls.
    var goingOn: [String] { calls.withLock { $0.names.sorted { $0.key < $1.key }.map(\.value) } }

    /// Calls an entry, and records an error that it throws.
    private func watching<Target, Response>(
        _ entry: Entry<Target>, _ request: RecordedRequest, _ ask: (RecordedRequest) async throws -> Response
    ) async throws -> Response {
        let number = calls.withLock { calls in
            calls.made += 1
            calls.names[calls.made] = entry.name
            return calls.made
        }
        defer { calls.withLock { $0.names[number] = nil } }
        do {
            return try await ask(request)
        } catch let error where !(error is CancellationError && Task.isCancelled) {
            thrown.withLock { $0.append(Finding(.error, "\(entry.name) threw when asked \(request): \(error)")) }
            throw error
        }
    }

    /// Returns the routes, each with the reasons why it doesn't match a request.
    func nearMisses(_ request: RecordedRequest) -> [StubList.NearMiss] {
        entries.withLock { $0 }.reversed().map { ($0.name, $0.matcher.reasonsAgainst(request)) }
    }

    /// The findings for a test's end: routes that were never called, or that threw.
    var findings: [Finding] {
        let unused = unasked(entries.withLock { $0 }) + unasked(conversations.withLock { $0 })
        return unused + thrown.withLock { $0.findings { $0 } }
    }

    private func unasked<Target>(_ entries: [Entry<Target>]) -> [Finding] {
        entries.filter { !$0.isAsked.withLock { $0 } }.map { Finding(.unusedStub, "\($0.name) was never asked") }
    }
}

private struct ClosureRoute: ServerRoute {
    let handler: @Sendable (RecordedRequest) async throws -> StubResponse

    func respond(to request: RecordedRequest) async throws -> StubResponse {
        try await handler(request)
    }
}

/// A route that responds with JSON: `router["/hello"] = JSONResponse { _ in ["Hello": "World"] }`.
public struct JSONResponse: ServerRoute {
    private let status: Int
    private let headers: [String: String]
    private let body: @Sendable (RecordedRequest) async throws -> Data

    /// Creates a route that responds with the value that `handler` returns, encoded with sorted keys.
    public init<Value: Encodable & SendableMetatype>(
        status: Int = 200, headers: [String: String] = [:],
        handler: @escaping @Sendable (RecordedRequest) async throws -> Value
    ) {
        self.status = status
        self.headers = headers
        body = { try StubResponse.encode(try await handler($0)) }
    }

    /// Responds to a request.
    public func respond(to request: RecordedRequest) async throws -> StubResponse {
        let headers = ["Content-Type": "application/json"].merging(headers, uniquingKeysWith: { $1 })
        return StubResponse(status: status, headers: headers, body: try await body(request))
    }
}

/// A route that responds with bytes.
public struct DataResponse: ServerRoute {
    private let status: Int
    private let headers: [String: String]
    private let handler: @Sendable (RecordedRequest) async throws -> Data

    /// Creates a route that responds with the bytes that `handler` returns.
    public init(
        status: Int = 200, contentType: String = "application/octet-stream", headers: [String: String] = [:],
        handler: @escaping @Sendable (RecordedRequest) async throws -> Data
    ) {
        self.status = status
        self.headers = ["Content-Type": contentType].merging(headers, uniquingKeysWith: { $1 })
        self.handler = handler
    }

    /// Responds to a request.
    public func respond(to request: RecordedRequest) async throws -> StubResponse {
        StubResponse(status: status, headers: headers, body: try await handler(request))
    }
}
