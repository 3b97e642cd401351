import Foundation
import PusherChannels
import TestSupport
import Testing

/// An app's HTTP API with a stubbed session, at the time of the documentation's examples.
struct APIRig: Sendable {
    static let key = "278d425bdf160c739803"
    static let secret = "7ad3773142a6692b25b8"
    static let masterKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    let session = MockSession(delivery: .immediate)
    let api: PusherHTTPAPI

    init(
        host: PusherHost = .host("api.example"), port: Int? = 8080, useTLS: Bool = false,
        options: PusherHTTPAPIOptions = PusherHTTPAPIOptions(), scheduler: any Scheduler = TestScheduler()
    ) {
        api = PusherHTTPAPI(
            appID: "3", key: Self.key, secret: Self.secret, host: host, port: port, useTLS: useTLS, options: options,
            environment: PusherEnvironment(
                scheduler: scheduler, httpSession: session, wallClock: { Date(timeIntervalSince1970: 1_353_088_179.9) },
                randomSeed: { 1 }, jsonEncoder: { .sorted }))
    }

    /// Answers every request with this response.
    func respond(_ status: Int = 200, _ body: String = "{}", headers: [String: String] = [:]) {
        session.removeAllStubs()
        session.stub(.any, StubResponse(status: status, headers: headers, body: Data(body.utf8)))
    }

    func fail(_ code: URLError.Code) {
        session.removeAllStubs()
        session.stub(.any, .failure(code))
    }

    /// Makes a call that must fail, and returns its error.
    func error(of call: APICall = .trigger, sourceLocation: SourceLocation = #_sourceLocation) async -> PusherError? {
        await #expect(throws: PusherError.self, sourceLocation: sourceLocation) { try await call.run(on: api) }
    }

    /// Answers every request with this response, and returns a closure that returns the times of the requests.
    func timesOfRequests(on scheduler: any Scheduler, _ response: StubResponse) -> @Sendable () -> [Instant] {
        let times = Locked<[Instant]>([])
        session.stub(.any) { _ in
            times.withLock { $0.append(scheduler.now) }
            return response
        }
        return { times.withLock { $0 } }
    }

    var bodies: [String] { session.requests.map(\.text) }
}

/// A value that can't be encoded.
struct NoJSON: Encodable {
    func encode(to encoder: any Encoder) throws { throw URLError(.unknown) }
}

extension JSONEncoder {
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}

/// A call that is refused before it has an effect. Its error's message contains its description.
struct RefusedCall<Subject>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (Subject) async throws -> Void

    init(_ description: String, _ run: @escaping @Sendable (Subject) async throws -> Void) {
        testDescription = description
        self.run = run
    }
}

/// The calls of the HTTP API, with valid arguments.
enum APICall: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case trigger, triggerBatch, sendToUser, channels, channel, users, terminateConnections, get, post

    var testDescription: String { rawValue }

    /// Indicates whether making the call twice publishes twice.
    var isPublish: Bool { [.trigger, .triggerBatch, .sendToUser, .post].contains(self) }

    /// What the error of a status 404 adds: every server publishes events, and some do nothing else.
    var mayBeMissing: String { [.trigger, .sendToUser].contains(self) ? "" : "; not every server has this call" }

    func run(on api: PusherHTTPAPI) async throws {
        switch self {
        case .trigger: try await api.trigger(channels: ["a"], eventName: "e", data: "1")
        case .triggerBatch: try await api.triggerBatch([PusherBatchEvent(channel: "a", eventName: "e", data: "1")])
        case .sendToUser: try await api.sendToUser("ann", eventName: "e", data: "1")
        case .channels: _ = try await api.channels()
        case .channel: _ = try await api.channel("a")
        case .users: _ = try await api.users(of: "presence-a")
        case .terminateConnections: try await api.terminateConnections(ofUser: "ann")
        case .get: _ = try await api.get("/connections")
        case .post: _ = try await api.post("/more", body: ["a": 1])
        }
    }
}
