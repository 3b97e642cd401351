#if os(Linux)
import Dispatch
import Processes
@testable import PusherChannels
import Testing

private let large = String(repeating: "x", count: WebSocketConnection.largeSize + 1)

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
                key: rig.loop.owner.makeKey(), delegate: delegate, resolve: { _, _ in {} }, loop: rig.loop)
            connection.setReading(reads)
            guard let stream else { return }
            stream.owner = connection
            connection.opened(stream, early: early.flatMap(\.bytes))
        }

        var isReading: Bool { stream?.isReading ?? false }

        /// Returns what was reported since the last call, one word for each event.
        func news() -> [String] {
            reports.withLock { reports in
                defer { reports = [] }
                return reports.compactMap(Self.word)
            }
        }

        private static func word(for event: SocketEvent) -> String? {
            switch event {
            case .opened: nil
            case .text(large): "LARGE"
            case .text(let text): text
            case .closed(.closed(let code, let reason), first): "\(code):\(reason)"
            case .closed(.failed(let failure), first): "\(failure.kind)"
            case .binary, .controlFrame, .closed: "\(event)"
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

    // MARK: The order of reports

    enum Step: Sendable {
        case receives([Frame]), ends, resumes, closes, isAbandoned
        /// The other thread reads a large message.
        case readsElsewhere
    }

    /// Steps of a connection that got some frames with the upgrade's response, with what it reports after the last one.
    struct Story: CustomStringConvertible, Sendable {
        let description: String
        var early: [Frame] = []
        let steps: [Step]
        let after: [String]
    }

    /// A connection that got frames early is paused. A stream that is lost delivers its remaining bytes anyway.
    static let stories = [
        Story(description: "An early message waits while paused", early: [.text("early")], steps: [.resumes], after: ["early"]),
        Story(
            description: "An early message comes before later ones", early: [.text("early")], steps: [.receives([.text("late")])],
            after: ["early", "late"]),
        Story(
            description: "An early large message isn't overtaken", early: [.text(large)],
            steps: [.receives([.text("late")]), .readsElsewhere], after: ["LARGE"]),
        Story(
            description: "An early close frame is reported when the stream ends", early: [.close(4001, "gone")], steps: [.ends],
            after: ["4001:gone"]),
        // The other thread may be held up for long, and each attempt may get such a message.
        Story(
            description: "An abandoned connection drops a large message",
            steps: [.receives([.text(large)]), .isAbandoned, .readsElsewhere], after: ["1000:"]),
        Story(
            description: "Its owner's close is reported after a large message, once",
            steps: [.receives([.text(large)]), .closes, .ends, .readsElsewhere], after: ["LARGE", "1000:bye"]),
        Story(
            description: "The peer's close frame is reported after a large message",
            steps: [.receives([.text(large)]), .receives([.text("after"), .close(4200, "restart")]), .ends, .readsElsewhere],
            after: ["LARGE", "after", "4200:restart"]),
        Story(
            description: "The stream's end is reported after a large message",
            steps: [.receives([.text(large)]), .ends, .readsElsewhere], after: ["LARGE", "connectionLost"]),
    ]

    @Test(arguments: stories)
    func `Early and large messages and the end are reported in order, and nothing while another thread reads`(story: Story)
        async throws
    {
        let news = try await withConnection(early: story.early, reads: story.early.isEmpty) { rig in
            var before: [String] = []
            for step in story.steps {
                before += rig.news()
                switch step {
                case .receives(let frames): rig.receive(frames)
                case .ends: rig.connection.streamEnded(.finished)
                case .resumes: rig.connection.setReading(true)
                case .closes: rig.connection.close(code: 1000, reason: "bye")
                case .isAbandoned: rig.connection.abandon()
                case .readsElsewhere: guard rig.readElsewhere() else { throw Unexpected("nothing was handed over") }
                }
            }
            return [before, rig.news()]
        }
        #expect(news == [[], story.after])
    }

    // MARK: Large messages

    @Test func `A connection reads nothing while its large message is read on another thread`() async throws {
        let read = try await withConnection { rig in
            rig.receive(.text(large))
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

    @Test func `Each loop has a thread of its own for large messages`() async throws {
        let (held, goOn) = (Note<Void>(), DispatchSemaphore(value: 0))
        defer { goOn.signal() }
        let loops = [NetworkEnvironment(), NetworkEnvironment()]
        loops[0].performElsewhere { goOn.wait() }
        loops[1].performElsewhere { held.send(()) }
        await held.next()
    }
}
#endif
