import Foundation
import Processes
import TestSupport
import Testing

/// Objects that a test releases are deallocated even if they still have work pending.
struct LettingGoTests {
    @Test func `An in-memory server that made a socket is released with its owner`() {
        weak var server: InMemoryServer?
        do {
            let made = InMemoryServer()
            _ = made.makeWebSocket()
            server = made
        }
        #expect(server == nil)
    }

    @Test(arguments: [StubResponse.fault(.stall), .ok.delayed(by: .seconds(5))])
    func `A scheduler is released although a stalled or delayed request waits for it`(response: StubResponse) throws {
        weak var scheduler: TestScheduler?
        do {
            let made = TestScheduler()
            let session = MockSession(delivery: .immediate, scheduler: made)
            session.stub("/a", response)
            try session.ask("http://a/a")
            scheduler = made
            #expect(made.pendingTimers.count > 0)
        }
        #expect(scheduler == nil)
    }

    // MARK: Calls during deallocation

    /// Releases a closure that holds an owner, and checks that the owner's deinitializer runs `atItsEnd` without a deadlock.
    private func release(
        _ leave: (AtItsEnd) throws -> @Sendable () -> Void, atItsEnd: @escaping @Sendable () -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let calls = Locked(0)
        let release = try leave(
            AtItsEnd {
                atItsEnd()
                calls.withLock { $0 += 1 }
            })
        try #require(isDone { release() }, "it hangs", sourceLocation: sourceLocation)
        #expect(calls.withLock { $0 } == 1, sourceLocation: sourceLocation)
    }

    @Test func `A canceled timer may release an owner that uses the scheduler, without a deadlock`() throws {
        let scheduler = TestScheduler()
        try release { owner in
            let timer = scheduler.schedule(at: .seconds(1), label: "a") { withExtendedLifetime(owner) {} }
            return { timer.cancel() }
        } atItsEnd: {
            scheduler.schedule(at: .seconds(2), label: "b") {}.cancel()
        }
        #expect(scheduler.pendingTimers.isEmpty)
    }

    @Test func `A replaced mock value may release an owner that reads it, without a deadlock`() throws {
        let environment = TestEnvironment()
        try release { owner in
            environment.now.make { withExtendedLifetime(owner) { Date.distantPast } }
            return { environment.now.next = .distantFuture }
        } atItsEnd: {
            _ = environment.now()
        }
    }

    @Test func `A removed stub may release an owner that uses the session, without a deadlock`() throws {
        let session = MockSession(delivery: .immediate)
        try release { owner in
            session.stub(.any) { _ in withExtendedLifetime(owner) { StubResponse.ok } }
            return { session.removeAllStubs() }
        } atItsEnd: {
            session.stub(.any, .ok)
        }
    }

    @Test func `A coder mock's old closure may release an owner that uses the mock, without a deadlock`() throws {
        let environment = TestEnvironment()
        try release { owner in
            environment.encoderMock.nextEncode = { _ in
                withExtendedLifetime(owner) {}
                return .success(Data())
            }
            return { environment.encoderMock.nextEncode = { _ in .success(Data()) } }
        } atItsEnd: {
            environment.encoderMock.unimplemented()
        }
    }

    private struct Weak: Sendable {
        weak var socket: MockWebSocket?
    }

    @Test func `A script's dropped matcher may release an owner that uses the socket, without a deadlock`() throws {
        let (left, weakly) = (Locked<MockWebSocket?>(nil), Locked(Weak()))
        try release { owner in
            let made = MockWebSocket(server: .manual)
            let request = WebSocketRequest(secure: false, host: "h", port: 1, path: "/")
            let matcher = FrameMatcher("a frame", where: { _ in withExtendedLifetime(owner) { true } })
            made.play(.expect(matcher))
            made.open(request, attempt: ConnectionAttempt(1))
            made.play(.establish())
            weakly.withLock { $0.socket = made }
            left.withLock { $0 = made }
            return { left.withLock { $0.take() }?.open(request, attempt: ConnectionAttempt(2)) }
        } atItsEnd: {
            _ = weakly.withLock { $0.socket }?.isOpen
        }
    }

    @Test func `A local server's removed route may release an owner that adds routes, without a deadlock`() async throws {
        try await withTestHarness { harness in
            let router = try await harness.startServer().router
            try release { owner in
                router.on("/a") { _ in withExtendedLifetime(owner) { StubResponse.ok } }
                return { router["/a"] = nil }
            } atItsEnd: {
                router["/b"] = nil
            }
        }
    }
}
