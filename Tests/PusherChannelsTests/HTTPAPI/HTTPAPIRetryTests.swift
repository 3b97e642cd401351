import Foundation
import PusherChannels
import TestSupport
import Testing

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

    private static func body(for call: APICall) -> String {
        call == .users ? #"{"users":[]}"# : #"{"channels":{},"occupied":true}"#
    }

    /// The first two attempts fail; the third would succeed.
    // Proves P15.12, P15.18.
    @Test(arguments: APICall.allCases, Trouble.allCases)
    func `A publish that may have been carried out is retried only if the guarantee allows it`(call: APICall, trouble: Trouble)
        async throws
    {
        for guarantee in [RetryPolicy.Guarantee.atMostOnce, .atLeastOnce, .idempotent] {
            let executor = TestExecutor()
            let rig = APIRig(
                options: PusherHTTPAPIOptions(retryPolicy: RetryPolicy(publishing: guarantee)), scheduler: executor.scheduler)
            rig.session.stub(
                RequestMatcher(where: { _ in true }), trouble.response, trouble.response,
                StubResponse(text: Self.body(for: call)))
            let isRepeated = trouble.allows(guarantee, call)
            let error = try await executor.run(time: .automatic) { _ -> PusherError? in
                do {
                    try await call.run(on: rig.api)
                    return nil
                } catch let error as PusherError {
                    return error
                }
            }
            #expect((error == nil) == isRepeated, "\(guarantee)")
            #expect(rig.session.requests.count == (isRepeated ? 3 : 1), "\(guarantee)")
        }
    }

    /// The server carries a publish out, and its response is lost.
    // Proves P15.18.
    @Test(arguments: [(RetryPolicy.Guarantee.idempotent, 1), (.atLeastOnce, 2)])
    func `A publish whose response is lost is published once if idempotent and twice if atLeastOnce`(
        guarantee: RetryPolicy.Guarantee, times: Int
    ) async throws {
        let executor = TestExecutor()
        let server = InMemoryServer(ServerMachine(profile: .sockudo), scheduler: executor.scheduler)
        let session = MockSession(delivery: .immediate)
        session.stub(.any) { [unowned session] request in
            let response = server.respond(to: request)
            return session.requests.count == 1 ? .failure(.networkConnectionLost) : response
        }
        let app = ServerApp.local
        let api = PusherHTTPAPI(
            appID: app.id, key: app.key, secret: app.secret,
            options: PusherHTTPAPIOptions(retryPolicy: RetryPolicy(publishing: guarantee)),
            environment: PusherEnvironment(scheduler: executor.scheduler, httpSession: session))
        try await executor.run(time: .automatic) { _ in
            try await api.trigger(channels: ["a"], eventName: "e", data: "1")
        }
        let published = server.notices.count { if case .published = $0 { true } else { false } }
        #expect(published == times)
        #expect(session.requests.count == 2)
    }

    /// Sockudo takes the key of a publish that failed for that of one under way.
    // Proves P15.12, P15.18.
    @Test func `The key of a failed publish is refused for two minutes, with 503 and Retry-After, and usable again then`()
        async throws
    {
        let executor = TestExecutor()
        let server = InMemoryServer(ServerMachine(profile: .sockudo), scheduler: executor.scheduler)
        let session = MockSession(server: server, delivery: .immediate)
        let app = ServerApp.local
        let api = PusherHTTPAPI(
            appID: app.id, key: app.key, secret: app.secret,
            options: PusherHTTPAPIOptions(
                limits: .unchecked, retryPolicy: RetryPolicy(initialDelay: .zero, publishing: .idempotent)),
            environment: PusherEnvironment(scheduler: executor.scheduler, httpSession: session))
        func publish(to channel: String) async throws -> PusherError? {
            try await executor.run(time: .automatic) { _ -> PusherError? in
                do {
                    try await api.trigger(channels: [channel], eventName: "e", data: "1", idempotencyKey: "order-7")
                    return nil
                } catch let error as PusherError {
                    return error
                }
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
        #expect(server.notices.count { if case .published = $0 { true } else { false } } == 1)
    }

    // Proves P15.12.
    @Test(arguments: [(1, 1), (2, 2), (5, 5), (0, 1), (Int.min, 1)])
    func `A request is attempted at most maximumAttempts times, and at least once`(maximum: Int, attempts: Int) async throws {
        let executor = TestExecutor()
        let rig = APIRig(
            options: PusherHTTPAPIOptions(retryPolicy: RetryPolicy(maximumAttempts: maximum)), scheduler: executor.scheduler)
        rig.fail(.cannotFindHost)
        await #expect(throws: PusherError.self) {
            try await executor.run(time: .automatic) { _ in try await APICall.trigger.run(on: rig.api) }
        }
        #expect(rig.session.requests.count == attempts)
    }

    /// The upper bounds of the delays are 1 s, 2 s and then 3 s; each delay is a random one below its bound.
    // Proves P15.12.
    @Test func `The delays before retries are random, below a bound that grows up to the maximum`() async throws {
        let executor = TestExecutor()
        let policy = RetryPolicy(maximumAttempts: 40, initialDelay: .seconds(1), maximumDelay: .seconds(3))
        let rig = APIRig(options: PusherHTTPAPIOptions(retryPolicy: policy), scheduler: executor.scheduler)
        let times = rig.timesOfRequests(on: executor.scheduler, .http(503))
        _ = try? await executor.run(time: .automatic) { _ in _ = try await rig.api.channels() }
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
        let rig = APIRig(options: PusherHTTPAPIOptions(retryPolicy: policy), scheduler: executor.scheduler)
        let response = StubResponse(status: status, headers: ["Retry-After": example.field])
        let times = rig.timesOfRequests(on: executor.scheduler, response)
        let error = await #expect(throws: PusherError.self) {
            try await executor.run(time: .automatic) { _ in try await APICall.trigger.run(on: rig.api) }
        }
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
    @Test(arguments: APICall.allCases) func `A call whose task is cancelled throws a CancellationError and isn't retried`(
        call: APICall
    ) async throws {
        let gate = Gate()
        let rig = APIRig()
        rig.session.stub(RequestMatcher(where: { _ in true }), .ok.held(by: gate))
        try await TestExecutor().run { executor in
            let ending = Locked<(any Error)?>(nil)
            let task = executor.spawn {
                do {
                    try await call.run(on: rig.api)
                } catch {
                    ending.withLock { $0 = error }
                }
            }
            await executor.settle()
            try #require(gate.waitingCount == 1)
            task.cancel()
            await task.value
            let error = try #require(ending.withLock { $0 })
            guard error is CancellationError else { throw error }
        }
        #expect(rig.session.requests.count == 1)
    }

    // Proves P15.13.
    @Test func `A call whose task is cancelled before a retry makes no further request`() async throws {
        let executor = TestExecutor()
        let rig = APIRig(scheduler: executor.scheduler)
        rig.fail(.cannotConnectToHost)
        try await executor.run { executor in
            let task = executor.spawn {
                do {
                    try await APICall.trigger.run(on: rig.api)
                } catch {
                    guard !(error is CancellationError) else { return }
                    rig.respond()  // For any other error, a second request makes the count below fail.
                    try? await APICall.channels.run(on: rig.api)
                }
            }
            await executor.settle()
            try #require(executor.scheduler.pendingTimers.map(\.label) == ["retry of POST /events"])
            task.cancel()
            await task.value
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
