#if os(Linux)
@testable import PusherChannels
import Testing

/// A connection over a stream that does nothing by itself: what comes early, what comes while large messages are read elsewhere,
/// and that the peer's answer to a close is read.
@Suite struct OpenConnectionTests {
    /// What a connection has a stream do.
    private final class Stream: ByteStream {
        weak var owner: (any ByteStreamOwner)?
        private(set) var isReading = true

        func startTLS(_ context: TLSContext, host: String) {}
        func write(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count }
        func setReading(_ reading: Bool) { isReading = reading }
        func leave() {}
        func cut() {}
    }

    /// A connection, what it reports, and what it wants another thread to do.
    private final class Rig {
        let stream = Stream()
        let connection: OpenConnection
        private let box = DelegateBox()
        private let delegate: SocketEvents
        private let reports: Locked<[SocketEvent]>
        private let handedOver = Locked<(@Sendable () -> Void)?>(nil)

        init() {
            let reports = Locked<[SocketEvent]>([])
            self.reports = reports
            delegate = SocketEvents { event in reports.withLock { $0.append(event) } }
            box.delegate = delegate
            connection = OpenConnection(
                stream: stream, maximumSize: 1 << 24, report: ConnectionReport(box: box, attempt: first),
                timer: LoopTimers().makeTimer(), ended: {},
                handOver: { [handedOver] work in handedOver.withLock { $0 = work } })
        }

        /// What was reported since this was asked last.
        func news() -> [SocketEvent] {
            reports.withLock { reports in
                defer { reports = [] }
                return reports
            }
        }

        func receive(_ frames: Frame...) {
            frames.flatMap(\.bytes).withUnsafeBytes { connection.streamReceived($0) }
        }

        /// Does what another thread is to do; whether there was anything.
        func readElsewhere() -> Bool {
            let work = handedOver.withLock { $0 }
            handedOver.withLock { $0 = nil }
            work?()
            connection.handedOver()
            return work != nil
        }
    }

    private static let large = String(repeating: "x", count: LargeMessages.size + 1)
    private let rig = Rig()

    // MARK: Closing

    /// The peer's close frame may stand behind what nobody wanted to read.
    @Test(arguments: [false, true]) func whoClosesReadsOn(isLetGo: Bool) {
        rig.connection.setReading(false)
        #expect(!rig.stream.isReading)
        if isLetGo { rig.connection.abandon() } else { rig.connection.close(code: 1000, reason: "") }
        #expect(rig.stream.isReading)
    }

    // MARK: What came with the answer to the upgrade

    @Test func whatCameEarlyWaitsForAReader() {
        rig.connection.setReading(false)
        rig.connection.receive(early: Frame.text("early").bytes)
        #expect(rig.news() == [])
        rig.connection.setReading(true)
        #expect(rig.news() == [.text("early")])
    }

    /// A stream that is lost reads what is left, if nobody wants to or not.
    @Test func whatCameEarlyComesFirst() {
        rig.connection.setReading(false)
        rig.connection.receive(early: Frame.text("early").bytes)
        rig.receive(.text("late"))
        #expect(rig.news() == [.text("early"), .text("late")])
    }

    @Test func whatCameEarlyComesBeforeTheEnd() {
        rig.connection.setReading(false)
        rig.connection.receive(early: Frame.close(4001, "gone").bytes)
        rig.connection.streamEnded(.finished)
        #expect(rig.news() == [.closed(.closed(code: 4001, reason: "gone"), first)])
    }

    // MARK: Large messages

    @Test func nothingIsReadWhileALargeMessageIsReadElsewhere() {
        rig.receive(.text(Self.large))
        #expect(!rig.stream.isReading)
        // Whoever wants to read on must wait.
        rig.connection.setReading(false)
        rig.connection.setReading(true)
        #expect(!rig.stream.isReading)
        #expect(rig.readElsewhere())
        #expect(rig.stream.isReading)
    }

    @Test func whatComesMeanwhileComesAfterwards() {
        rig.receive(.text(Self.large))
        rig.receive(.text("after"))
        #expect(rig.news() == [])
        #expect(rig.readElsewhere())
        #expect(rig.news() == [.text(Self.large), .text("after")])
    }

    @Test func theEndThatComesMeanwhileComesAfterwards() {
        rig.receive(.text(Self.large))
        rig.connection.streamEnded(.finished)
        #expect(rig.news() == [])
        #expect(rig.readElsewhere())
        let news = rig.news()
        #expect(news.count == 2)
        #expect(news.first == .text(Self.large))
        #expect(news.last?.failure?.kind == .connectionLost)
    }
}
#endif
