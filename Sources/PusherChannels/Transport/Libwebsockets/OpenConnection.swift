#if canImport(CLibwebsockets)

/// A WebSocket from its upgrade on: moves bytes between a stream and the conversation, and reports what that makes of them.
final class OpenConnection: ByteStreamOwner {
    private let stream: any ByteStream
    private let report: ConnectionReport
    private let timer: LoopTimer
    private let ended: () -> Void
    private var conversation: WebSocketConversation
    private var isReading = true
    /// What came with the answer to the upgrade, if it may not be read yet.
    private var early: [UInt8] = []

    /// Takes a stream over; `ended` is called before the end is reported.
    init(
        stream: any ByteStream, maximumSize: Int, report: ConnectionReport, timer: LoopTimer,
        ended: @escaping () -> Void
    ) {
        self.stream = stream
        self.report = report
        self.timer = timer
        self.ended = ended
        conversation = WebSocketConversation(maximumSize: maximumSize, makeKey: { .random(in: 0 ... .max) })
        stream.owner = self
    }

    // MARK: Commands

    /// Queues a message for the next ``flush()``.
    func send(_ text: String) {
        conversation.send(text)
    }

    func setReading(_ reading: Bool) {
        isReading = reading
        stream.setReading(reading)
        if reading, !early.isEmpty { receiveEarly() }
    }

    func close(code: UInt16, reason: String) {
        conversation.close(code: code, reason: reason)
        // The peer's close frame may stand behind what nobody wanted to read.
        setReading(true)
        flush()
    }

    /// Reports the end at once; the closing handshake goes on.
    func abandon() {
        conversation.abandon()
        setReading(true)
        flush()
    }

    /// Ends at once.
    func stop(_ failure: WebSocketFailure) {
        conversation.cut(failure)
        flush()
    }

    /// Reads what came before there was a connection to read it.
    func receive(early bytes: [UInt8]) {
        early = bytes
        if isReading { receiveEarly() }
    }

    private func receiveEarly() {
        let bytes = early
        early = []
        bytes.withUnsafeBytes { streamReceived($0) }
    }

    // MARK: The stream

    func streamConnected() {}

    func streamSecured() {}

    func streamLate(by time: Duration) {
        report.mayHaveWaited(time)
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        if !early.isEmpty { receiveEarly() }
        conversation.receive(bytes)
        flush()
    }

    func streamWritable() {
        flush()
    }

    func streamEnded(_ end: StreamEnd) {
        // A close frame among it may tell why.
        if !early.isEmpty { receiveEarly() }
        conversation.streamEnded(because: end.reason)
        flush()
    }

    private func timedOut() {
        conversation.timerFired()
        flush()
        // The peer had its time already.
        if conversation.stream == .closeNow { stream.cut() }
    }

    // MARK: The conversation

    /// Does what the conversation has come to.
    func flush() {
        conversation.write { stream.write($0) }
        conversation.takeMessages { report.received($0) }
        if conversation.takeControlFrames() { report.receivedControlFrame() }
        if let time = conversation.takeTimer() {
            timer.set(after: time) { [weak self] in self?.timedOut() }
        }
        if let closure = conversation.takeClosure() {
            ended()
            report.closed(closure)
        }
        if conversation.stream == .closeNow {
            timer.cancel()
            stream.leave()
        }
    }
}
#endif
