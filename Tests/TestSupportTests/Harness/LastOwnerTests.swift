import Foundation
import TestSupport
import Testing

/// When a test ends, another thread may still be in a call, and then it holds the object that it calls.
@Suite struct LastOwnerTests {
    /// An object of the app that owns a client and is its delegate. Its call on the client's queue lasts as long as the test
    /// says.
    private final class Owner: PusherDelegate, Sendable {
        let pusher: Pusher
        let isCalled = DispatchSemaphore(value: 0)
        let mayReturn: DispatchSemaphore

        init(_ harness: TestHarness, until mayReturn: DispatchSemaphore) {
            self.mayReturn = mayReturn
            pusher = harness.makePusher { $0.delivery = .privateQueue }
            pusher.delegate = self
        }

        func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
            guard new == .connected else { return }
            isCalled.signal()
            mayReturn.wait()
        }

        /// Connects, and releases the owner while the client's queue is inside the delegate call.
        static func connectAndLeave(_ harness: TestHarness) {
            let mayReturn = DispatchSemaphore(value: 0)
            let owner = Owner(harness, until: mayReturn)
            owner.pusher.connect()
            owner.isCalled.wait()
            // By the time this thread runs, the test has ended.
            Thread { mayReturn.signal() }.start()
        }
    }

    @Test func `A client still held by a delivery at the test's end is no finding, also if the harness is verified by hand`()
        throws
    {
        try withTestHarness { Owner.connectAndLeave($0) }
        let harness = TestHarness()
        Owner.connectAndLeave(harness)
        try harness.verify()
    }

    @Test func `A stub's closure may hold the client that makes the request, and an unused stub with one is found`() throws {
        func makeStub(_ harness: TestHarness) -> Pusher {
            let pusher = harness.makePusher()
            harness.session.stub("POST /pusher/auth") { _ in
                pusher.disconnect()
                return .http(403)
            }
            return pusher
        }
        try withTestHarness { harness in
            let pusher = makeStub(harness)
            pusher.subscribe("private-orders")
            pusher.connect()
        }
        #expect(try failingTest { _ = makeStub($0) }.findings.map(\.kind) == [.unusedStub])
    }

    #if !canImport(Darwin)  // On Darwin, the executor needs a newer system than the package does.
    @Test func `A channel held by a task that was canceled after the executor's run is no leak`() async throws {
        try await withTestHarness { harness in
            let executor = harness.makeExecutor()
            let channel = harness.makePusher().subscribe("news")
            let reader = executor.spawn { [channel] in
                do { for try await _ in channel.events {} } catch {}
            }
            try await executor.run { _ in }
            reader.cancel()
        }
    }

    @Test func `A client held by a task that a throwing test canceled is no finding beside its error`() async throws {
        struct Trouble: Error {}
        await #expect(throws: Trouble.self) {
            try await withTestHarness { harness in
                let executor = harness.makeExecutor()
                let pusher = harness.makePusher()
                let reader = executor.spawn {
                    do { for try await _ in pusher.subscribe("news").events {} } catch {}
                    withExtendedLifetime(pusher) {}
                }
                defer { reader.cancel() }
                pusher.connect()
                try await executor.run { _ in }
                throw Trouble()
            }
        }
    }
    #endif

    @Test func `A client that another thread holds for good is a leak, and a synchronous test says what tasks need`() throws {
        let mayReturn = DispatchSemaphore(value: 0)
        defer { mayReturn.signal() }
        let failure = try failingTest { harness in
            let owner = Owner(harness, until: mayReturn)
            owner.pusher.connect()
            owner.isCalled.wait()
        }
        #expect(failure.findings.map(\.kind) == [.leak])
        #expect(failure.description.contains("or use the asynchronous `try await withTestHarness`"))
    }

    @Test func `A client that is held for good is a leak in an asynchronous test, too`() async throws {
        let held = Locked<Pusher?>(nil)
        let failure = try await failingTest { harness in
            let pusher = harness.makePusher()
            held.withLock { $0 = pusher }
            await harness.stopServers()
        }
        #expect(failure.findings.map(\.kind) == [.leak])
    }
}
