import Dispatch
import Foundation
import Logging
import PusherTestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Actions that users' tests take in either framework. Each returns a value to compare.
enum Journey {
    /// Returns the statuses of responses that a server delays by the harness's clock, which moves as soon as each request is
    /// known.
    static func lateResponses(_ count: Int, _ harness: TestHarness) async throws -> [Int?] {
        let server = try await harness.startServer(settings: .init(scheduler: harness.scheduler))
        server.router.on("GET /late") { _ in .ok.delayed(by: .seconds(30)) }
        var statuses: [Int?] = []
        for _ in 1...count {
            async let response = URLSession.shared.data(from: server.url.appendingPathComponent("late"))
            try await server.nextRequest("GET /late")
            harness.scheduler.advance(by: .seconds(30))
            statuses.append((try await response.1 as? HTTPURLResponse)?.statusCode)
        }
        return statuses
    }

    /// Returns the number of events that scripts send late, each of them due as soon as the one before is received on a queue of
    /// the application.
    static func lateEvents(_ count: Int, _ harness: TestHarness) async throws -> Int {
        let queue = DispatchQueue(label: "app")
        var heard = 0
        for _ in 1...count {
            let socket = harness.makeWebSocket()
            socket.play(.establish(), .event("now"), .wait(.seconds(30)), .event("later"))
            let pusher = harness.makePusher(socket: socket) { $0.delivery = .queue(queue) }
            let recorder = RecordingDelegate(of: pusher)
            pusher.connect()
            try await recorder.next { $0.isEvent("now") }
            harness.scheduler.advance(by: .seconds(30))
            try await recorder.next { $0.isEvent("later") }
            heard += 1
            pusher.disconnect()
        }
        return heard
    }

    /// Returns the number of responses that each gate holds as soon as its request is known.
    static func heldResponses(_ count: Int, _ harness: TestHarness) async throws -> [Int] {
        let urlSession = URLSession(configuration: harness.session.urlSessionConfiguration())
        guard let url = URL(string: "https://api.example.com/held") else { return [] }
        var waiting: [Int] = []
        for _ in 1...count {
            let gate = Gate()
            harness.session.stub("GET /held", .ok.held(by: gate))
            async let response = urlSession.data(from: url)
            try await harness.session.nextRequest("GET /held")
            waiting.append(gate.waitingCount)
            gate.open()
            _ = try await response
        }
        return waiting
    }

    /// Records a request that holds a secret and a text about it, and returns the content of the file.
    static func recordSecret(_ harness: TestHarness) async throws -> String {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        harness.session.stub("POST /reports", .ok)
        let recorder = TrafficRecorder(environment: [:])
        let session = URLSession(configuration: recorder.recording(harness.session).urlSessionConfiguration())
        guard let url = URL(string: "https://api.example.com/reports") else { return "" }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"token": "s3cret", "message": "the token is too old: sign in again"}"#.utf8)
        _ = try await session.data(for: request)
        try recorder.record(to: file.path)
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Waits on an executor for work that isn't on the executor, such as that of a `Task {}`, and returns the error.
    static func waitForTask(_ harness: TestHarness) async -> String {
        let (never, keepOpen) = AsyncStream<Never>.makeStream()
        defer { keepOpen.finish() }
        do {
            try await harness.makeExecutor().run { _ in
                for await _ in never {}
            }
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    /// Records requests to one server and compares them with requests to another on another port. Parts written by a person are
    /// kept.
    static func recordAndCompare(_ harness: TestHarness) async throws -> (file: String, mismatch: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("journey-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("orders.json")
        func traffic(_ path: String) async throws -> TrafficRecorder {
            let server = try await harness.startServer()
            server.router.on("GET /orders/{id}") { _ in .ok }
            let recorder = TrafficRecorder(environment: [:])
            let session = URLSession(configuration: recorder.recording(URLSession.shared).urlSessionConfiguration())
            _ = try await session.data(from: server.url.appendingPathComponent(path))
            return recorder
        }
        try await traffic("orders/7").record(to: file.path)
        try String(contentsOf: file, encoding: .utf8).replacingOccurrences(of: "orders/7", with: "orders/[0-9]+")
            .write(to: file, atomically: true, encoding: .utf8)
        try await traffic("orders/8").validate(against: file.path)
        try await traffic("orders/9").record(to: file.path)
        do {
            try await traffic("orders/new").validate(against: file.path)
            return (try String(contentsOf: file, encoding: .utf8), "none")
        } catch let mismatch as TrafficMismatch {
            return (try String(contentsOf: file, encoding: .utf8), "\(mismatch)")
        }
    }

    /// Returns the responses of routes with a pattern and a regular expression, of a redirect, and for a client that already has
    /// the response.
    static func askRoutes(_ harness: TestHarness) async throws -> [String] {
        let server = try await harness.startServer()
        server.router.on("GET" && .path(matching: "/v[0-9]+/users/(?<id>[0-9]+)")) { request in
            .json(["id": request.pathParameters["id"]]).tagged("v1")
        }
        server.router.on("GET /files/{path...}") {
            StubResponse(text: $0.pathParameters["path"] ?? "", contentType: "text/plain")
        }
        server.router.on("/old") { _ in .redirect(to: "/v1/users/7") }
        var found: [String] = []
        func ask(_ path: String, _ fields: [String: String] = [:]) async throws {
            var request = URLRequest(url: server.url.appendingPathComponent(path))
            request.cachePolicy = .reloadIgnoringLocalCacheData
            request.allHTTPHeaderFields = fields
            let (data, response) = try await URLSession(configuration: .ephemeral).data(for: request)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            found.append("\(status) \(String(decoding: data, as: UTF8.self))")
        }
        try await ask("old")
        try await ask("v1/users/7", ["If-None-Match": "\"v1\""])
        try await ask("files/a/b.txt")
        found.append(try await server.nextRequest("GET /files/{path...}").pathParameters["path"] ?? "")
        found.append(server.requests.compactMap { $0.pathParameters["id"] }.joined(separator: " "))
        return found
    }

    /// Returns the event that a client gets from a WebSocket of the user's own.
    static func converse(_ harness: TestHarness) async throws -> RecordingDelegate.Notification {
        let server = try await harness.startServer()
        server.router.onWebSocket("/realtime/app/{key}") { request, messages, play in
            play(.establish())
            play(.event("welcome", data: request.pathParameters["key"] ?? ""))
            for await _ in messages {}
        }
        let options = PusherClientOptions(host: .host(server.host), port: server.port, path: "/realtime", useTLS: false)
        let pusher = Pusher(key: "own", options: options)
        let recorder = RecordingDelegate(of: pusher)
        pusher.connect()
        let welcome = try await recorder.next { $0.isEvent("welcome") }
        pusher.disconnect()
        return welcome
    }

    /// Returns the time after which an event of some 1,000 bytes arrives over a connection of 100 bytes a second.
    static func overASlowLine(_ harness: TestHarness) throws -> Duration {
        let socket = harness.makeWebSocket()
        let pusher = harness.makePusher(socket: socket)
        let heard = Inbox()
        pusher.subscribe("news").bind(eventName: "long") { _ in heard.add("long") }
        pusher.connect()
        try socket.inject(.bandwidth(bytesPerSecond: 100))
        let began = harness.scheduler.now
        harness.server.publish(channel: "news", event: "long", data: String(repeating: "x", count: 1000))
        try harness.eventually("the event is heard") { !heard.all.isEmpty }
        return harness.scheduler.now - began
    }

    /// Returns the status at another address of this machine, which a server that listens only on 127.0.0.1 doesn't serve.
    static func anotherAddress(_ harness: TestHarness) async throws -> Int? {
        let server = try await harness.startServer(host: "0.0.0.0")
        server.router.on("/") { _ in .ok }
        guard let url = URL(string: "http://127.0.0.2:\(server.port)/") else { return nil }
        return (try await URLSession.shared.data(from: url).1 as? HTTPURLResponse)?.statusCode
    }
}

extension RecordingDelegate.Notification {
    fileprivate func isEvent(_ name: String) -> Bool {
        if case .event(name, _, _, _) = self { true } else { false }
    }
}

/// An app that makes its own client, as in the README. It knows nothing of tests except that its environment is passed in.
final class OrderFeed: Sendable {
    let pusher: Pusher
    let orders: PusherChannel

    init(_ environment: PusherEnvironment = .live, onOrder: @escaping @Sendable (String) -> Void) {
        pusher = Pusher(
            key: "app-key",
            options: PusherClientOptions(
                authMethod: .endpoint(authEndpoint: "https://api.example.com/broadcasting/auth"), host: .cluster("eu")),
            environment: environment)
        orders = pusher.subscribe("private-orders")
        orders.bind(eventName: "placed") { event in onOrder(event.data ?? "") }
        pusher.connect()
    }
}

/// An app that asks its own backend for signatures, polls on its own queue, and logs.
final class OrderDesk: Sendable {
    let pusher: Pusher
    let orders: PusherChannel

    init(_ environment: PusherEnvironment, logger: Logger, sign: @escaping @Sendable (String, String) async throws -> PusherAuth)
    {
        let options = PusherClientOptions(
            authMethod: .customHandler { socketID, channel in
                logger.info("asks to be let in", metadata: ["channel": "\(channel)"])
                return try await sign(socketID, channel)
            }, delivery: .immediate)
        pusher = Pusher(key: ServerApp.local.key, options: options, environment: environment)
        orders = pusher.subscribe("private-orders")
        pusher.connect()
    }
}

/// The texts received, on any thread.
final class Inbox: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    var all: [String] { lock.withLock { texts } }
    func add(_ text: String) { lock.withLock { texts.append(text) } }
}
