import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private struct SilentSession: HTTPSession {
    struct Task: HTTPTask {
        let handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void

        func resume() {}
        func cancel() { handler(nil, nil, URLError(.cancelled)) }
    }

    func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> Task {
        Task(handler: completionHandler)
    }
}

@Suite struct HTTPAPIRetryTests {
    enum Trouble: CaseIterable, Sendable {
        case unreachable, untrusted, lost, refused, late, early, limited, broken, tooLong

        var response: StubResponse {
            switch self {
            case .unreachable: .failure(.cannotConnectToHost)
            case .untrusted: .failure(.serverCertificateUntrusted)
            case .lost: .failure(.networkConnectionLost)
            case .refused: .http(400)
            case .late: .http(408)
            case .early: .http(425)
            case .limited: .http(429)
            case .broken: .http(503)
            case .tooLong: .failure(.dataLengthExceedsMaximum)
            }
        }

        /// Indicates whether a request may be retried after this trouble, although that may carry it out a second time.
        func allows(_ guarantee: RetryPolicy.Guarantee, _ call: APICall) -> Bool {
            switch self {
            case .unreachable, .early, .limited: true
            case .untrusted, .refused, .tooLong: false
            case .lost, .late, .broken:
                !call.isPublish || guarantee == .atLeastOnce || guarantee == .idempotent && call != .post
            }
        }
    }

    // Proves P15.12, P15.18.
    @Test(arguments: APICall.allCases, Trouble.allCases)
    func `An uncertain publish is retried only if the guarantee allows it`(call: APICall, trouble: Trouble) async throws {
        for guarantee in [RetryPolicy.Guarantee.atMostOnce, .atLeastOnce, .idempotent] {
            let executor = TestExecutor()
            let rig = APIRig(RetryPolicy(publishing: guarantee), on: executor)
            let success = StubResponse(text: #"{"users":[],"channels":{},"occupied":true}"#)
            rig.session.stub(.any, trouble.response, trouble.response, success)
            let error = try await executor.error { try await call.run(on: rig.api) }
            let isRepeated = trouble.allows(guarantee, call)
            #expect((error == nil) == isRepeated, "\(guarantee)")
            #expect(rig.session.requests.count == (isRepeated ? 3 : 1), "\(guarantee)")
        }
    }

    // Proves P15.12, P15.17.
    @Test(arguments: APICall.allCases, [(503, false), (429, true), (404, false)])
    func `An error in a 200 is retried like its status`(call: APICall, refusal: (code: Int, isAlwaysRetried: Bool)) async throws {
        let executor = TestExecutor()
        let rig = APIRig(on: executor)
        rig.respond(200, #"{"error":"why","code":\#(refusal.code)}"#)
        #expect(try await executor.error { try await call.run(on: rig.api) } != nil)
        let isRetried = refusal.code != 404 && (refusal.isAlwaysRetried || !call.isPublish)
        #expect(rig.session.requests.count == (isRetried ? 3 : 1))
    }

    /// `URLSession` would begin the time anew with each byte.
    @Test func `A request that the scheduler ends is timed out, however long its session would wait`() async throws {
        let executor = TestExecutor()
        let request = URLRequest(url: try #require(URL(string: "http://api.example")), timeoutInterval: 15)
        let begin = executor.scheduler.now
        await #expect(throws: URLError(.timedOut)) {
            try await executor.run(time: .automatic) { _ in
                _ = try await SilentSession().response(to: request, endedBy: executor.scheduler)
            }
        }
        #expect(executor.scheduler.now - begin == .seconds(15))
    }

    private static func api(of session: MockSession, _ policy: RetryPolicy, on executor: TestExecutor) -> PusherHTTPAPI {
        let app = ServerApp.local
        return PusherHTTPAPI(
            appID: app.id, key: app.key, secret: app.secret,
            options: PusherHTTPAPIOptions(limits: .unchecked, retryPolicy: policy),
            environment: PusherEnvironment(scheduler: executor.scheduler, httpSession: session))
    }

    private static func published(by server: InMemoryServer) -> Int {
        server.notices.count { if case .published = $0 { true } else { false } }
    }

    /// The server carries a publish out, and its response is lost.
    // Proves P15.18.
    @Test(arguments: [
        (RetryPolicy.Guarantee.idempotent, ServerProfile.sockudo, 1), (.atLeastOnce, .sockudo, 2), (.idempotent, .reverb, 2),
    ])
    func `A publish whose answer is lost is made once if idempotent, on a server that knows keys`(
        guarantee: RetryPolicy.Guarantee, profile: ServerProfile, times: Int
    ) async throws {
        let executor = TestExecutor()
        let server = InMemoryServer(ServerMachine(profile: profile), scheduler: executor.scheduler)
        let session = MockSession(delivery: .immediate)
        session.stub(.any) { [unowned session] request in
            let response = server.respond(to: request)
            return session.requests.count == 1 ? .failure(.networkConnectionLost) : response
        }
        let api = Self.api(of: session, RetryPolicy(publishing: guarantee), on: executor)
        try await executor.run(time: .automatic) { _ in
            try await api.trigger(channels: ["a"], eventName: "e", data: "1")
        }
        #expect(Self.published(by: server) == times)
        #expect(session.requests.count == 2)
    }

    // Proves P15.18.
    @Test func `Each publish has its own key, which its repeats have, too`() async throws {
        let executor = TestExecutor()
        let session = MockSession(delivery: .immediate)
        session.stub(.any) { [unowned session] _ in session.requests.count == 1 ? .http(503) : StubResponse(text: "{}") }
        let api = Self.api(of: session, RetryPolicy(publishing: .idempotent), on: executor)
        try await executor.run(time: .automatic) { _ in
            for _ in 1...2 { try await api.trigger(channels: ["a"], eventName: "e", data: "1") }
        }
        let keys = session.requests.map { request in (try? JSONValue(parsing: request.text))?["idempotency_key"]?.stringValue }
        #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys[2] && !keys.contains(nil))
    }

    /// Sockudo takes the key of a publish that failed for that of one under way.
    // Proves P15.12, P15.18.
    @Test func `A failed publish's key is refused for two minutes, with 503 and Retry-After, then usable again`() async throws {
        let executor = TestExecutor()
        let server = InMemoryServer(ServerMachine(profile: .sockudo), scheduler: executor.scheduler)
        let session = MockSession(server: server, delivery: .immediate)
        let api = Self.api(of: session, RetryPolicy(initialDelay: .zero, publishing: .idempotent), on: executor)
        func publish(to channel: String) async throws -> PusherError? {
            try await executor.error {
                try await api.trigger(channels: [channel], eventName: "e", data: "1", idempotencyKey: "order-7")
            }
        }
        #expect(try await publish(to: "bad name")?.code == 400)
        let refused = try await publish(to: "a")
        #expect(refused?.code == 503)
        #expect(refused?.retryAfter == .seconds(1))
        #expect(session.requests.count == 4, "and three attempts were a second apart")
        #expect(executor.scheduler.now == .origin + .seconds(2))
        executor.scheduler.advance(by: .seconds(118))
        #expect(try await publish(to: "a") == nil)
        #expect(Self.published(by: server) == 1)
    }

    // Proves P15.12.
    @Test(arguments: [(1, 1), (2, 2), (5, 5), (0, 1), (Int.min, 1)])
    func `A request is attempted at most maximumAttempts times, and at least once`(maximum: Int, attempts: Int) async throws {
        let executor = TestExecutor()
        let rig = APIRig(RetryPolicy(maximumAttempts: maximum), on: executor)
        rig.fail(.cannotFindHost)
        #expect(try await executor.error { try await APICall.trigger.run(on: rig.api) } != nil)
        #expect(rig.session.requests.count == attempts)
    }

    /// The upper bounds of the delays are 1 s, 2 s and then 3 s; each delay is a random one below its bound.
    // Proves P15.12.
    @Test func `The delays before retries are random, below a bound that grows up to the maximum`() async throws {
        let executor = TestExecutor()
        let policy = RetryPolicy(maximumAttempts: 40, initialDelay: .seconds(1), maximumDelay: .seconds(3))
        let rig = APIRig(policy, on: executor)
        let times = rig.timesOfRequests(on: executor.scheduler, .http(503))
        _ = try await executor.error { try await APICall.channels.run(on: rig.api) }
        let all = times()
        let delays = zip(all, all.dropFirst()).map { $1 - $0 }
        #expect(delays.count == 39)
        #expect(delays[0] <= .seconds(1))
        #expect(delays[1] <= .seconds(2))
        #expect(delays.allSatisfy { $0 <= .seconds(3) })
        #expect(delays.contains { $0 > .seconds(2) })
        #expect(Set(delays).count == 39)
    }

    /// The longest delay of this policy is 5 s.
    // Proves P15.12.
    @Test(
        arguments: [("5", [0, 5, 10], 5), ("0", [0, 0, 0], 0), ("6", [0], 6), ("99999999999999999999", [0], 86400)], [429, 503])
    func `A retry waits as long as Retry-After says, and isn't made if that is over the maximum`(
        example: (field: String, times: [Int], retryAfter: Int), status: Int
    ) async throws {
        let executor = TestExecutor()
        let policy = RetryPolicy(initialDelay: .zero, maximumDelay: .seconds(5), publishing: .atLeastOnce)
        let rig = APIRig(policy, on: executor)
        let response = StubResponse(status: status, headers: ["Retry-After": example.field])
        let times = rig.timesOfRequests(on: executor.scheduler, response)
        let error = try await executor.error { try await APICall.trigger.run(on: rig.api) }
        #expect(times() == example.times.map { .origin + .seconds($0) })
        #expect(error?.retryAfter == .seconds(example.retryAfter))
    }

    /// A signature is valid for only ten minutes.
    @Test func `Each attempt of a request has a new timestamp and a new signature`() async throws {
        let executor = TestExecutor()
        let session = MockSession(delivery: .immediate)
        let policy = RetryPolicy(maximumAttempts: 2, initialDelay: .seconds(3600), maximumDelay: .seconds(3600))
        let api = PusherHTTPAPI(
            appID: "3", key: "k", secret: "s", host: .host("h"), options: PusherHTTPAPIOptions(retryPolicy: policy),
            environment: PusherEnvironment(
                scheduler: executor.scheduler, httpSession: session,
                wallClock: { Date(timeIntervalSince1970: (executor.scheduler.now - .origin) / .seconds(1)) }, randomSeed: { 1 }))
        session.stub("/apps/3/channels", .http(503), StubResponse(text: #"{"channels":{}}"#))
        try await executor.run(time: .automatic) { _ in _ = try await api.channels() }
        let stamps = session.requests.compactMap { $0.parameters["auth_timestamp"].flatMap { Int($0) } }
        #expect(stamps.count == 2)
        #expect(stamps[1] > stamps[0])
        #expect(Set(session.requests.compactMap { $0.parameters["auth_signature"] }).count == 2)
    }

    // Proves P15.13.
    @Test(arguments: APICall.allCases)
    func `A call whose task is cancelled throws a CancellationError and isn't retried`(call: APICall) async throws {
        let gate = Gate()
        let rig = APIRig()
        rig.session.stub(.any, .ok.held(by: gate))
        try await TestExecutor().run { executor in
            let task: Task<Void, any Error> = executor.spawn { try await call.run(on: rig.api) }
            await executor.settle()
            try #require(gate.waitingCount == 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(rig.session.requests.count == 1)
    }

    // Proves P15.13.
    @Test func `A call whose task is cancelled before a retry makes no further request`() async throws {
        let executor = TestExecutor()
        let rig = APIRig(on: executor)
        rig.fail(.cannotConnectToHost)
        try await executor.run { executor in
            let task: Task<Void, any Error> = executor.spawn { try await APICall.trigger.run(on: rig.api) }
            await executor.settle()
            try #require(executor.scheduler.pendingTimers.map(\.label) == ["retry of POST /events"])
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try #require(executor.scheduler.pendingTimers == [])
        }
        #expect(rig.session.requests.count == 1)
    }

    // Proves P15.13.
    @Test func `A call in a task that is already cancelled sends no request`() async throws {
        let rig = APIRig()
        rig.respond()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await APICall.trigger.run(on: rig.api)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(rig.session.requests.isEmpty)
    }
}

extension APIRig {
    fileprivate init(_ policy: RetryPolicy = RetryPolicy(), on executor: TestExecutor) {
        self.init(options: PusherHTTPAPIOptions(retryPolicy: policy), scheduler: executor.scheduler)
    }
}

extension TestExecutor {
    /// Makes a call while time passes by itself, and returns its error; nil if it succeeds.
    fileprivate func error(of call: @escaping @Sendable () async throws -> Void) async throws -> PusherError? {
        try await run(time: .automatic) { _ -> PusherError? in
            do {
                try await call()
                return nil
            } catch let error as PusherError {
                return error
            }
        }
    }
}
