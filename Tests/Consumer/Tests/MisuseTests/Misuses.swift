import Foundation
import PusherTestSupport
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests that are wrong, each in one way. The harness must fail every one of them, and accept the last.
enum Misuse {
    /// The clients that a test forgets to release.
    private final class Attic: @unchecked Sendable {
        private let lock = NSLock()
        private var pushers: [Pusher] = []

        func keep(_ pusher: Pusher) {
            lock.withLock { pushers.append(pusher) }
        }
    }

    private static let attic = Attic()

    private static func ask(_ path: String, _ harness: TestHarness) {
        guard let url = URL(string: "https://example.com\(path)") else { return }
        harness.session.dataTask(with: URLRequest(url: url)) { _, _, _ in }.resume()
    }

    static func unmatchedRequest(_ harness: TestHarness) {
        harness.session.stub("GET /order/7", .ok).optional()
        ask("/orders/7", harness)
    }

    static func unusedStub(_ harness: TestHarness) {
        harness.session.stub("GET /orders", .ok)
    }

    static func stepOutOfOrder(_ harness: TestHarness) {
        let socket = harness.makeWebSocket()
        socket.play(.establish(), .expect("pusher:subscribe first"), .expect("pusher:subscribe second"))
        let pusher = harness.makePusher(socket: socket)
        pusher.connect()
        pusher.subscribe("second")
        pusher.subscribe("first")
    }

    static func leak(_ harness: TestHarness) {
        let pusher = harness.makePusher()
        attic.keep(pusher)
    }

    static func openSocket(_ harness: TestHarness) {
        let pusher = harness.makePusher()
        pusher.connect()
        attic.keep(pusher)
    }

    static func pendingTimer(_ harness: TestHarness) {
        _ = harness.scheduler.schedule(at: harness.scheduler.now + .seconds(5), label: "reminder") {}
    }

    static func errorOnABackgroundThread(_ harness: TestHarness) {
        let done = DispatchSemaphore(value: 0)
        Thread {
            harness.record("the callback came twice")
            done.signal()
        }.start()
        done.wait()
    }

    static func unplayedStep(_ harness: TestHarness) {
        harness.session.stub("GET /orders", .http(500), .ok)
        ask("/orders", harness)
    }

    static func unexpectedCall(_ harness: TestHarness) {
        harness.session.stub("GET /orders", .ok).never()
        ask("/orders", harness)
    }

    static func unsupportedFault(_ harness: TestHarness) {
        harness.session.stub("GET /orders", .fault(.badUTF8))
        ask("/orders", harness)
    }

    static func unimplemented(_ harness: TestHarness) {
        harness.environment.calendar.unimplemented()
        _ = harness.environment.calendar()
    }

    static func nothing(_ harness: TestHarness) {
        let pusher = harness.makePusher()
        let channel = pusher.subscribe(Fixtures.channel)
        pusher.connect()
        if !channel.subscribed { harness.record("not subscribed") }
    }

    /// Returns a channel for an expectation that fails, because the server refused the channel's client.
    static func refusedChannel(_ harness: TestHarness) -> PusherChannel {
        let pusher = harness.makePusher(key: "another")
        let news = pusher.subscribe("news")
        pusher.connect()
        return news
    }

    static func publishToNobody(_ harness: TestHarness) {
        let pusher = harness.makePusher()
        pusher.subscribe("orders")
        pusher.connect()
        harness.server.publish(channel: "order", event: "placed", data: "7")
    }

    static func sendAfterClose(_ harness: TestHarness) {
        let socket = harness.makeWebSocket()
        let pusher = harness.makePusher(socket: socket)
        pusher.connect()
        pusher.disconnect()
        socket.serverSendsEvent("placed", channel: "orders")
    }

    static func shadowedStub(_ harness: TestHarness) {
        harness.session.stub("GET /orders", .ok)
        harness.session.stub("/orders", .ok)
        ask("/orders", harness)
    }

    static func waitInVain(_ harness: TestHarness) async throws {
        harness.session.stub("GET /orders", .ok.delayed(by: .seconds(30)))
        ask("/orders", harness)
        try await harness.session.nextRequest("GET /order", within: .zero)
    }

    static func recordingOnCI(_ harness: TestHarness) {
        try? TrafficRecorder(environment: ["CI": "true"]).record(to: "orders.json")
    }

    static func unheldRecorder(_ harness: TestHarness) {
        let pusher = harness.makePusher()
        _ = RecordingDelegate(of: pusher)
        pusher.connect()
    }

    private final class OrderDelegate: PusherDelegate {
        func receivedError(_ error: PusherError) {}
        func signedIn(userID: String) async {}
        func failedToSubscribeToChannel(name: String, error: any Error) {}
    }

    static func nearlyADelegate(_ harness: TestHarness) {
        let delegate = OrderDelegate()
        let pusher = harness.makePusher()
        pusher.delegate = delegate
        pusher.connect()
    }

    private struct Trouble: Error {}

    static func routes(_ harness: TestHarness) async throws {
        let server = try await harness.startServer()
        server.router["GET /orders"] = JSONResponse { _ in 7 }
        server.router.on("GET /trouble") { _ in throw Trouble() }
        for path in ["order", "trouble"] { _ = try await URLSession.shared.data(from: server.url.appendingPathComponent(path)) }
        await harness.stopServers()
    }

    // MARK: Mistakes with harnesses and time

    static func nestedHarness(_ harness: TestHarness) throws {
        let inner = TestHarness()
        inner.scheduler.advance(by: .seconds(1))
        try inner.verify()
    }

    static func useAfterTheEnd(_ harness: TestHarness) throws {
        let ended = TestHarness()
        try ended.verify()
        ended.scheduler.advance(by: .seconds(1))
    }

    /// Two test cases with one harness.
    static func sharedHarness() throws {
        let shared = TestHarness()
        try shared.verify()
        shared.scheduler.advance(by: .seconds(1))
        try shared.verify()
    }

    /// Returns a client as an earlier test leaves it in a static variable.
    static func staticClient() throws -> Pusher {
        let earlier = TestHarness()
        let pusher = earlier.makePusher()
        try earlier.verify()
        return pusher
    }

    /// Lets a task go on after its test, and makes sure that it does something before the process ends.
    static func outlivingTask() async throws {
        let (end, signal) = AsyncStream<Never>.makeStream()
        let task = try await withTestHarness { harness in
            Task {
                for await _ in end {}
                Misuse.ask("/late", harness)
            }
        }
        signal.finish()
        await task.value
    }

    static func belowZero(_ harness: TestHarness) {
        harness.scheduler.advance(by: .seconds(-2))
        harness.session.stub("GET /orders", .ok.delayed(by: .seconds(-1)))
        ask("/orders", harness)
    }

    static func everyZero(_ harness: TestHarness) {
        _ = harness.scheduler.schedule(every: .zero, label: "poll") {}
    }

    static func twoAdvances(_ harness: TestHarness) {
        _ = harness.scheduler.schedule(at: harness.scheduler.now + .seconds(1), label: "step") {
            let done = DispatchSemaphore(value: 0)
            Thread {
                harness.scheduler.advance(by: .zero)
                done.signal()
            }.start()
            done.wait()
        }
        harness.scheduler.advance(by: .seconds(1))
    }

    static func virtualTimeOfAServer(_ harness: TestHarness) async throws {
        _ = try await harness.startServer()
        harness.scheduler.advance(by: .seconds(30))
        await harness.stopServers()
    }

    private final class Again: PusherDelegate {
        weak var pusher: Pusher?

        func changedConnectionState(from old: ConnectionState, to new: ConnectionState) {
            if new == .disconnected { pusher?.connect() }
        }
    }

    /// Connects, in a harness that refuses the client's key, whenever the delegate hears of a disconnection.
    static func delegateRecursion(_ harness: TestHarness) {
        let (pusher, delegate) = (harness.makePusher(key: "another"), Again())
        delegate.pusher = pusher
        pusher.delegate = delegate
        pusher.connect()
        delegate.pusher = nil
        pusher.disconnect()
    }

    /// Makes a harness by hand, and never verifies it.
    static func forgetTheHarness() {
        unusedStub(TestHarness())
    }
}
