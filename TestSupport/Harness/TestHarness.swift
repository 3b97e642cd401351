import Foundation
import Logging
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Everything one test needs, and nothing that outlives it: virtual time, sockets and HTTP in memory, servers, a seed.
///
/// ```swift
/// try withTestHarness { harness in
///     let pusher = harness.makePusher()
///     let news = pusher.subscribe("news")
///     pusher.connect()
///     harness.server.shutdown()
///     harness.scheduler.advance(by: .seconds(2))
///     #expect(news.subscribed)
/// }
/// ```
///
/// Anything that is left over is an error at the test's end: ``withTestHarness(apps:seed:profile:allowing:stuckAfter:file:line:_:)`` throws
/// it, and so does ``verify()``, for frameworks that set up and tear down. ``verify()`` reports no leaks, because the test case
/// may still hold objects. Both end the harness: a later use is a finding. Harnesses share nothing, so tests may run in
/// parallel. All members may be called from any thread.
public final class TestHarness: Sendable {
    struct State {
        /// The findings of the sockets that the server didn't make.
        var sockets = SocketFindings()
        var servers: [any StartedServer] = []
        var proxies: [NetworkFaultProxy] = []
        var recorders: [TrafficRecorder] = []
        var tracked: [Tracked] = []
        /// The number of clients, and of environments for clients, that were made here.
        var lastClient = 0
        /// The number of the client that each socket belongs to.
        var owners: [ObjectIdentifier: Int] = [:]
        /// The classes of delegates that were already checked.
        var delegates: Set<ObjectIdentifier> = []
        var recorded: [Finding] = []
        /// The recorders that were deallocated before they received anything, and the number of timeline entries until then.
        var unheldRecorders: [(finding: Finding, entries: Int)] = []
        /// Closures that describe the clients that were made here.
        var clients: [@Sendable () -> String?] = []
        /// Waits on the executor that was made last, if it runs a body.
        var waitOnExecutor: ExecutorWait?
        /// Advances time on that executor, or returns `false` if it runs no body.
        var advanceOnExecutor: @Sendable (Duration) async -> Bool = { _ in false }
        /// Runs what is ready on that executor, if it runs no body.
        var runExecutor: @Sendable () -> Bool = { true }
        var spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { body in Task { await body() } }
        var isVerified = false
        /// What is said with each leak.
        var leakAdvice = ""
        /// The number of timeline entries that an error told.
        var toldEntries: Int?
        /// Ends the process if the test never ends.
        var watchdog: Watchdog?
    }

    typealias Condition = @Sendable () async throws -> Bool
    /// A wait on the executor, which returns `false` if nothing runs there.
    typealias ExecutorWait = @Sendable (_ what: String, _ limit: Duration, Condition) async throws -> Bool

    /// Something that must not outlive the test.
    struct Tracked {
        let name: String
        /// The client's number, if the object is a client.
        let client: Int?
        let isAlive: @Sendable () -> Bool
    }

    /// The seed that everything random is drawn from: socket ids, the jitter of reconnections.
    public let seed: UInt64
    /// The environment of the code under test: calendar, locale, date, formatters, coders. The harness's clients also take the
    /// time, JSON coders, and random seeds from it, and ``server`` takes the date.
    public let environment: TestEnvironment
    /// The in-memory Channels server that the harness's clients connect to and that authorizes them.
    public let server: InMemoryServer
    /// The events of the test so far.
    public let timeline: Timeline
    /// Begins with the first use, and ends with the test.
    let life: TestLife
    /// The log of the clients that were made here.
    let log: TestLog
    /// The apps of all servers that aren't given others; a client that a test makes without a key uses the first one's.
    let apps: [ServerApp]
    /// The server that all servers imitate unless they are given another profile.
    let profile: ServerProfile
    /// The kinds of findings that are not reported.
    let allowed: Set<Finding.Kind>
    /// The real time after which a call that moves time gives up, and, a little later, the process ends if the test hasn't; `nil`
    /// for no limit.
    public let stuckAfter: Duration?
    /// The harness whose ``withTestHarness(apps:seed:profile:allowing:stuckAfter:file:line:_:)`` is running, for code that observes a test
    /// from outside; `nil` elsewhere.
    @TaskLocal public static var current: TestHarness?

    /// The place where the harness was made, `Tests.swift:12`.
    let location: String
    let state = Locked(State())

    /// Creates a harness for a test that calls ``verify()`` at its end.
    ///
    /// - Parameters:
    ///   - apps: The apps of ``server``, which refuses other keys and checks all signatures; `nil` for ``ServerApp/local`` and
    ///     any other key, for which nothing is checked.
    ///   - seed: The seed of everything random.
    ///   - profile: The server that ``server`` imitates.
    ///   - allowed: The kinds of findings that aren't reported at the end.
    ///   - stuckAfter: The real time after which a call that moves time gives up and is a finding. If nobody has called
    ///     ``verify()`` a minute later (on a busy machine, more), counted from the first use, the process ends with a report and
    ///     an error. `nil` for no limit.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    public init(
        apps: [ServerApp]? = nil, seed: UInt64 = 1, profile: ServerProfile = .hosted, allowing allowed: Set<Finding.Kind> = [],
        stuckAfter: Duration? = .seconds(60), file: String = #fileID, line: Int = #line
    ) {
        let (scheduler, life) = (TestScheduler(), TestLife())
        scheduler.patience = stuckAfter
        scheduler.life = life
        let timeline = Timeline(of: life) { scheduler.now }
        log = TestLog(timeline: timeline)
        // The server uses the date that a test sets, too; otherwise it would refuse what the test's backend signs.
        let now = Locked<MockValue<Date>?>(nil)
        let wallClock: @Sendable () -> Date = { now.withLock { $0 }?.current ?? Date(timeIntervalSinceReferenceDate: 0) }
        let machine = ServerMachine(
            apps: apps ?? [.local], admission: apps == nil ? .registeredAppsAndNewOnes : .registeredApps, profile: profile,
            seed: seed)
        let server = InMemoryServer(machine, scheduler: scheduler, wallClock: wallClock, timeline: timeline)
        let session = MockSession(server: server, delivery: .immediate, scheduler: scheduler, timeline: timeline)
        let environment = TestEnvironment(seed: seed, scheduler: scheduler, session: session)
        now.withLock { $0 = environment.now }
        // Clients that share a seed would all reconnect at the same moment.
        let seeds = Locked(SplitMix64(seed: seed))
        environment.randomSeed.make { seeds.withLock { $0.next() } }
        self.seed = seed
        self.apps = apps ?? [.local]
        self.profile = profile
        self.server = server
        self.environment = environment
        self.timeline = timeline
        self.allowed = allowed
        self.stuckAfter = stuckAfter
        self.life = life
        location = sourceLocation(file, line)
        life.onBegin { [weak self] in self?.begin() }
        ForgottenHarnesses.watch(self)
    }

    deinit {
        state.withLock(\.watchdog)?.callOff()
        sayIfForgotten()
    }

    /// Reports the findings if nobody asked for them.
    func sayIfForgotten() {
        guard !state.withLock({ $0.isVerified }), let failure = failure(alive: false) else { return }
        state.withLock { $0.isVerified = true }
        ForgottenHarnesses.tell(failure)
    }

    /// The clock of everything in memory.
    public var scheduler: TestScheduler { environment.scheduler }
    /// The HTTP session of the harness's clients, which tries stubs first, then ``server``'s own paths.
    public var session: MockSession { environment.session }
    /// A closure that makes a request over ``session``, for code that takes one in the place of a `URLSession`. It can be cancelled
    /// at any time.
    public var request: @Sendable (URLRequest) async throws -> (Data, URLResponse) { environment.request }
    /// A virtual-time clock for code that takes a clock.
    public var clock: TestClock { environment.clock }

    // MARK: Making

    /// Makes an unconnected client of ``server``. The client calls back at once in virtual time, and the server authorizes it.
    ///
    /// - Parameters:
    ///   - key: The key of the app; `nil` for the first app's key.
    ///   - socket: The socket that the client connects with; by default a new one.
    ///   - recorder: The recorder of what the client sends and receives.
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - configure: A closure that changes the client's options.
    public func makePusher(
        key: String? = nil, socket: MockWebSocket? = nil, recorder: TrafficRecorder? = nil,
        file: String = #fileID, line: Int = #line,
        _ configure: (inout PusherClientOptions) -> Void = { _ in }
    ) -> Pusher {
        var options = PusherClientOptions(
            authMethod: .endpoint(authEndpoint: "http://localhost/pusher/auth"),
            userAuthMethod: .endpoint("http://localhost/pusher/user-auth"), delivery: .immediate,
            logger: makeLogger("pusher-channels"))
        configure(&options)
        let client = makeClientNumber()
        if let socket { register(socket) }
        let socket = socket ?? makeWebSocket(file: file, line: line)
        give(socket, to: client)
        var environment = pusherEnvironment(of: client, file, line) { recorder?.recording(socket) ?? socket as any WebSocket }
        if let recorder {
            keep(recorder)
            environment.httpSession = recorder.recording(environment.httpSession)
        }
        return Pusher(key: key ?? apps.first?.key ?? ServerApp.local.key, options: options, environment: environment)
    }

    private func makeClientNumber() -> Int {
        state.withLock { state in
            state.lastClient += 1
            return state.lastClient
        }
    }

    private func give(_ socket: MockWebSocket, to client: Int) { state.withLock { $0.owners[socket.identity] = client } }

    /// Makes a socket that connects to ``server``, or to something else.
    public func makeWebSocket(
        server other: MockWebSocket.Server? = nil, file: String = #fileID, line: Int = #line
    ) -> MockWebSocket {
        guard let other else { return server.makeWebSocket(file: file, line: line) }
        let socket = MockWebSocket(
            server: other, scheduler: scheduler, timeline: timeline, location: sourceLocation(file, line))
        register(socket)
        return socket
    }

    /// Registers a socket whose findings are collected at the end, once, no matter what made it.
    private func register(_ socket: MockWebSocket) {
        if !server.hasMade(socket) { state.withLock { $0.sockets.add(socket) } }
    }

    /// Creates the SDK's environment for clients that the code under test makes itself. Whatever their key, cluster, and
    /// endpoints, they reach ``server`` and ``session``.
    ///
    /// - Parameters:
    ///   - file: The file of the call, for what is reported; the compiler fills it in.
    ///   - line: The line of the call, likewise.
    ///   - makeWebSocket: A closure that makes the sockets; mocks among them are checked at the end like the harness's own.
    public func pusherEnvironment(
        file: String = #fileID, line: Int = #line, makeWebSocket: (@Sendable () -> any WebSocket)? = nil
    ) -> PusherEnvironment {
        let client = makeClientNumber()
        var environment = pusherEnvironment(
            of: client, file, line,
            makeWebSocket: { [self] in
                let socket = makeWebSocket?() ?? self.makeWebSocket(file: file, line: line)
                guard let mock = socket.mock else { return socket }
                register(mock)
                give(mock, to: client)
                return socket
            })
        environment.clientLogger = { [log] in TestLog.logger(log, inPlaceOf: $0) }
        return environment
    }

    private func pusherEnvironment(
        of client: Int, _ file: String, _ line: Int, makeWebSocket: @escaping @Sendable () -> any WebSocket
    ) -> PusherEnvironment {
        var environment = environment.pusherEnvironment(makeWebSocket: makeWebSocket, spawn: state.withLock { $0.spawn })
        if let session = environment.httpSession as? MockSession { environment.httpSession = ClientSession(session: session) }
        environment.scheduler = ClientScheduler(scheduler: scheduler, client: client)
        environment.onClient = { [weak self] in self?.keep($0, client, file, line) }
        environment.onDelegate = { [weak self] delegate, isClientAlive in self?.watch(delegate, isClientAlive) }
        return environment
    }

    /// Makes an executor for asynchronous code in the harness's time. Clients made from now on run their asynchronous code on it.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public func makeExecutor(seed: UInt64? = nil) -> TestExecutor {
        let executor = TestExecutor(scheduler: scheduler, seed: seed)
        state.withLock { state in
            state.spawn = executor.spawn
            state.waitOnExecutor = { [weak executor] what, limit, condition in
                guard let executor, executor.waiters.withLock(\.isRunning) else { return false }
                try await executor.eventually(what, within: limit, condition)
                return true
            }
            state.advanceOnExecutor = { [weak executor] duration in
                guard let executor, executor.waiters.withLock(\.isRunning) else { return false }
                await executor.advance(by: duration)
                return true
            }
            state.runExecutor = { [weak executor] in
                guard let executor, !executor.waiters.withLock(\.isRunning) else { return true }
                return executor.runJobs()
            }
        }
        return executor
    }

    var startedServers: Int { state.withLock(\.servers.count) }

    /// Indicates whether something of the harness is real, and takes real time.
    var hasServers: Bool { state.withLock { !$0.servers.isEmpty || !$0.proxies.isEmpty } }

    /// Registers a server for ``stopServers()`` to stop.
    func keep(_ server: any StartedServer) { state.withLock { $0.servers.append(server) } }

    /// Registers a proxy for ``stopServers()`` to stop.
    func keep(_ proxy: NetworkFaultProxy) { state.withLock { $0.proxies.append(proxy) } }

    /// Registers a recorder whose findings are collected at the end.
    func keep(_ recorder: TrafficRecorder) {
        state.withLock { state in
            if !state.recorders.contains(where: { $0 === recorder }) { state.recorders.append(recorder) }
        }
    }

    /// Stops the servers and proxies that the harness started.
    public func stopServers() async {
        let (proxies, servers) = state.withLock { ($0.proxies, $0.servers) }
        for proxy in proxies { proxy.stop() }
        for server in servers { await server.stop() }
    }

    // MARK: Watching

    /// Reports an object that is still alive when the test has ended.
    public func track(_ object: some AnyObject & Sendable, _ name: String, file: String = #fileID, line: Int = #line) {
        track(object, name, client: nil, file, line)
    }

    private func track(_ object: some AnyObject & Sendable, _ name: String, client: Int?, _ file: String, _ line: Int) {
        let name = "\(name) made at \(sourceLocation(file, line))"
        let tracked = Tracked(name: name, client: client) { [weak object] in object != nil }
        state.withLock { $0.tracked.append(tracked) }
    }

    /// Reports a client that is still alive at the end, and includes the client's state in ``story``.
    private func keep(_ client: some AnyObject & CustomStringConvertible & Sendable, _ number: Int, _ file: String, _ line: Int) {
        track(client, "client", client: number, file, line)
        state.withLock { $0.clients.append { [weak client] in client?.description } }
    }

    /// Checks the methods of a client's delegate, and makes a ``RecordingDelegate`` report that it was deallocated too early.
    private func watch(_ delegate: AnyObject, _ isClientAlive: @escaping @Sendable () -> Bool) {
        let isNew = state.withLock { $0.delegates.insert(ObjectIdentifier(type(of: delegate))).inserted }
        if isNew { record(DelegateMethods.nearMisses(of: delegate)) }
        (delegate as? RecordingDelegate)?.watch(in: scheduler, isClientAlive) { [weak self] finding in
            guard let self else { return }
            let entries = timeline.count
            state.withLock { $0.unheldRecorders.append((finding, entries)) }
        }
    }

    func record(_ findings: [Finding]) {
        let isVerified = state.withLock { state in
            state.recorded += findings
            return state.isVerified
        }
        // Most likely, nobody asks for findings again.
        guard isVerified else { return }
        for finding in findings { ForgottenHarnesses.tell("after the end of the harness made at \(location): \(finding)") }
    }

    /// Fails the test at its end. It may be called from any thread, including those where an assertion would be lost.
    public func record(_ error: any Error) {
        record("\(error)")
    }

    /// Fails the test at its end. It may be called from any thread, including those where an assertion would be lost.
    public func record(_ message: String) {
        timeline.note("error", message)
        record([Finding(.error, message)])
    }
}
