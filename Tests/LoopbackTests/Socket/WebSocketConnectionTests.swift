#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import Testing

/// An open connection on a loop whose turns the test runs: data that arrives early, data that arrives while large messages are
/// read elsewhere, and the peer's close frame.
@Suite(.watchdog) struct WebSocketConnectionTests {
    /// A connection, its reports, and its work for another thread.
    private final class Rig {
        let connection: WebSocketConnection
        private weak var stream: ByteStream?
        private let delegate: SocketEvents
        private let reports = Locked<[SocketEvent]>([])
        private let elsewhere: Elsewhere

        init(_ rig: StreamRig, early: [Frame], reads: Bool, elsewhere: Elsewhere) {
            self.elsewhere = elsewhere
            delegate = SocketEvents { [reports] event in reports.withLock { $0.append(event) } }
            stream = rig.stream
            connection = WebSocketConnection(
                WebSocketRequest(secure: false, host: "a.example", port: 80, path: "/"), attempt: first,
                key: rig.loop.owner.makeKey(), delegate: delegate,
                resolve: { _, _ in {} }, loop: rig.loop)
            connection.setReading(reads)
            guard let stream else { return }
            stream.owner = connection
            connection.opened(stream, early: early.flatMap(\.bytes))
            _ = news()
        }

        var isReading: Bool { stream?.isReading ?? false }

        /// Returns the events that were reported since the last call.
        func news() -> [SocketEvent] {
            reports.withLock { reports in
                defer { reports = [] }
                return reports.filter { $0 != .opened(first) }
            }
        }

        func receive(_ frames: Frame...) { receive(frames) }

        func receive(_ frames: [Frame]) {
            frames.flatMap(\.bytes).withUnsafeBytes { connection.streamReceived($0, since: LiveScheduler.now) }
        }

        /// Does the other thread's work; returns whether there was any.
        func readElsewhere() -> Bool {
            let didWork = elsewhere.perform()
            connection.wasDelivered()
            return didWork
        }
    }

    /// Keeps work for the test to do.
    private final class Elsewhere: Sendable {
        private let work = Locked<(@Sendable () -> Void)?>(nil)

        func take(_ work: @escaping @Sendable () -> Void) {
            self.work.withLock { $0 = work }
        }

        func perform() -> Bool {
            let taken = work.withLock { work in
                defer { work = nil }
                return work
            }
            taken?()
            return taken != nil
        }
    }

    /// Runs `body` with an open connection that received some frames with the response to the upgrade, and returns the result for
    /// the test to check.
    private func withConnection<Result: Sendable>(
        early: [Frame] = [], reads: Bool = true, _ body: @escaping @Sendable (Rig) throws -> Result
    ) async throws -> Result {
        let elsewhere = Elsewhere()
        let environment = NetworkEnvironment(timeouts: .long, performElsewhere: { elsewhere.take($0) })
        return try await StreamRig.run(environment) { rig in
            try body(Rig(rig, early: early, reads: reads, elsewhere: elsewhere))
        }
    }

    private static let large = String(repeating: "x", count: WebSocketConnection.largeSize + 1)

    // MARK: Closing

    /// The peer's close frame may come after data that hasn't been read.
    @Test(arguments: [false, true]) func `A paused connection resumes reading when the owner closes or abandons the connection`(
        isLetGo: Bool
    ) async throws {
        let read = try await withConnection { rig in
            rig.connection.setReading(false)
            let before = rig.isReading
            if isLetGo { rig.connection.abandon() } else { rig.connection.close(code: 1000, reason: "") }
            return [before, rig.isReading]
        }
        #expect(read == [false, true])
    }

    // MARK: Data with the response to the upgrade

    @Test func `A message that came with the upgrade's response waits while reading is paused`() async throws {
        let news = try await withConnection(early: [.text("early")], reads: false) { rig in
            let before = rig.news()
            rig.connection.setReading(true)
            return [before, rig.news()]
        }
        #expect(news == [[], [.text("early")]])
    }

    /// A stream that is lost delivers its remaining bytes, even while reading is paused.
    @Test func `A message that came with the upgrade's response is delivered before later messages`() async throws {
        let news = try await withConnection(early: [.text("early")], reads: false) { rig in
            rig.receive(.text("late"))
            return rig.news()
        }
        #expect(news == [.text("early"), .text("late")])
    }

    /// While the large message is read elsewhere, nothing overtakes it.
    @Test func `A large message that came with the upgrade's response isn't overtaken by later messages`() async throws {
        let news = try await withConnection(early: [.text(Self.large)], reads: false) { rig in
            rig.receive(.text("late"))
            let meanwhile = rig.news()
            guard rig.readElsewhere() else { throw Unexpected("nothing was handed over") }
            return [meanwhile, rig.news()]
        }
        #expect(news == [[], [.text(Self.large)]])
    }

    @Test func `A close frame that came with the upgrade's response is reported when the stream ends`() async throws {
        let news = try await withConnection(early: [.close(4001, "gone")], reads: false) { rig in
            rig.connection.streamEnded(.finished)
            return rig.news()
        }
        #expect(news == [.closed(.closed(code: 4001, reason: "gone"), first)])
    }

    // MARK: Large messages

    @Test func `A connection reads nothing while its large message is read on another thread`() async throws {
        let read = try await withConnection { rig in
            rig.receive(.text(Self.large))
            let meanwhile = rig.isReading
            // Reading can't resume before the large message is read.
            rig.connection.setReading(false)
            rig.connection.setReading(true)
            return [meanwhile, rig.isReading, rig.readElsewhere(), rig.isReading]
        }
        #expect(read == [false, false, true, true])
    }

    /// Thousands of empty frames that arrive at once take long to report, though they are only a few bytes.
    @Test func `Messages beyond a certain number at once are read on another thread like a large message`() async throws {
        let limit = WebSocketConnection.largeCount
        let counts = try await withConnection { rig in
            rig.receive(Array(repeating: .text(""), count: limit))
            let few = rig.news().count
            rig.receive(Array(repeating: .text(""), count: limit + 1))
            let meanwhile = rig.news().count
            guard rig.readElsewhere() else { throw Unexpected("nothing was handed over") }
            return [few, meanwhile, rig.news().count]
        }
        #expect(counts == [limit, 0, limit + 1])
    }

    /// The other thread may be held up for long, and each attempt may get such a message.
    @Test func `An abandoned connection drops a large message that waits for another thread`() async throws {
        let news = try await withConnection { rig in
            rig.receive(.text(Self.large))
            rig.connection.abandon()
            guard rig.readElsewhere() else { throw Unexpected("nothing was handed over") }
            return rig.news()
        }
        #expect(news == [.closed(.closed(code: 1000, reason: ""), first)])
    }

    /// A delegate that blocks holds up only its own loop's connections.
    @Test func `Each loop has a thread of its own for large messages`() async throws {
        let (held, goOn) = (Note<Void>(), DispatchSemaphore(value: 0))
        defer { goOn.signal() }
        let loops = [NetworkEnvironment(), NetworkEnvironment()]
        loops[0].performElsewhere { goOn.wait() }
        loops[1].performElsewhere { held.send(()) }
        await held.next()
    }

    /// The stream ends after the close; the connection is reported closed once, with the code of the close.
    @Test func `A connection closed while a large message is read elsewhere reports its end afterwards`() async throws {
        let news = try await withConnection { rig in
            rig.receive(.text(Self.large))
            rig.connection.close(code: 1000, reason: "bye")
            rig.connection.streamEnded(.finished)
            let meanwhile = rig.news()
            guard rig.readElsewhere() else { throw Unexpected("nothing was handed over") }
            return [meanwhile, rig.news()]
        }
        #expect(news == [[], [.text(Self.large), .closed(.closed(code: 1000, reason: "bye"), first)]])
    }

    @Test func `A close frame that comes while a large message is read elsewhere is reported afterwards`() async throws {
        let news = try await withConnection { rig in
            rig.receive(.text(Self.large))
            rig.receive(.text("after"), .close(4200, "restart"))
            rig.connection.streamEnded(.finished)
            let meanwhile = rig.news()
            guard rig.readElsewhere() else { throw Unexpected("nothing was handed over") }
            return [meanwhile, rig.news()]
        }
        let end = SocketEvent.closed(.closed(code: 4200, reason: "restart"), first)
        #expect(news == [[], [.text(Self.large), .text("after"), end]])
    }

    @Test func `A stream's end that comes while a large message is read elsewhere is reported afterwards`() async throws {
        let news = try await withConnection { rig in
            rig.receive(.text(Self.large))
            rig.connection.streamEnded(.finished)
            let meanwhile = rig.news()
            guard rig.readElsewhere() else { throw Unexpected("nothing was handed over") }
            return [meanwhile, rig.news()]
        }
        #expect(news.first == [])
        #expect(news.last?.count == 2)
        #expect(news.last?.first == .text(Self.large))
        #expect(news.last?.last?.failure?.kind == .connectionLost)
    }
}
#endif
