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
    /// Converses with one client of a WebSocket route: its request, the text messages that it sends, what the server does.
    typealias Conversation =
        @Sendable (
            RecordedRequest, AsyncStream<String>, @escaping @Sendable (SocketStep) -> Void
        ) async throws -> Void

    private struct Entry<Target: Sendable>: Sendable {
        /// `nil` where it can't be replaced.
        let key: String?
        let matcher: RequestMatcher
        let target: Target
        /// The place where it was added, `Tests.swift:12`.
        let location: String
        let isAsked = Locked(false)
        var name: String { "route \(key ?? matcher.description) (\(location))" }
        /// Paths without names for parts come before all else.
        var isExact: Bool { key.map { !$0.contains("{") } ?? false }
    }

    private let entries = Locked<[Entry<any ServerRoute>]>([])
    private let conversations = Locked<[Entry<Conversation>]>([])
    private let thrown = Locked(FirstElements<Finding>())
    /// The names of those that are being asked, by the number of the call.
    private let calls = Locked<(names: [Int: String], made: Int)>(([:], 0))

    init() {}

    /// The route of a method and a path, `GET /users/{id}`, or of a path whatever the method, `/hello`; `nil` removes it.
    ///
    /// A path is compared as a whole, without the query; what stands for `{id}` is in ``RecordedRequest/pathParameters``, and
    /// `/files/{path...}` has all that follows. Where several fit, one without such names comes first, then the one added last. All come
    /// before what the server itself has.
    public subscript(key: String, file: String = #fileID, line: Int = #line) -> (any ServerRoute)? {
        get { entries.withLock { $0.last { $0.key == key }?.target } }
        set {
            let entry = newValue.map {
                Entry(key: key, matcher: RecordedRequest.matcher(key), target: $0, location: sourceLocation(file, line))
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

    /// Answers the requests that a matcher means, such as `.path(matching: "/users/[0-9]+")`, by a closure; of several matchers the one
    /// added last.
    public func on(
        _ matcher: RequestMatcher, file: String = #fileID, line: Int = #line,
        _ handler: @escaping @Sendable (RecordedRequest) async throws -> StubResponse
    ) {
        let route = ClosureRoute(handler: handler)
        entries.withLock { $0.append(Entry(key: nil, matcher: matcher, target: route, location: sourceLocation(file, line))) }
    }

    /// Converses with the clients that open a WebSocket which a matcher means, `"/prices/{symbol}"`: one call for each.
    ///
    /// ```swift
    /// server.router.onWebSocket("/echo") { request, messages, play in
    ///     for await message in messages { play(.send(message)) }
    /// }
    /// ```
    ///
    /// `play` does what a step says, at once and on any thread: messages (`.send`, `.event`, `.establish`), `.controlFrame`, `.close`,
    /// `.drop`; other steps are found at the test's end. `messages` ends with the connection, and the call is then cancelled. When it
    /// returns, the connection is closed with code 1000, and with 1011 when it throws. Pings are answered; a binary message ends the
    /// connection with 1003.
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

    /// The route of a request, and the request with what stands for the names in its path.
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

    /// The names of the routes that are being asked now, by the order of the calls.
    var goingOn: [String] { calls.withLock { $0.names.sorted { $0.key < $1.key }.map(\.value) } }

    /// Asks an entry, and writes down what it throws.
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

    /// The routes, each with the reasons why it doesn't answer a request.
    func nearMisses(_ request: RecordedRequest) -> [StubList.NearMiss] {
        entries.withLock { $0 }.reversed().map { ($0.name, $0.matcher.reasonsAgainst(request)) }
    }

    /// The findings for a test's end: routes that were never asked, or threw.
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
