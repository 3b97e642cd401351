#if canImport(CLibwebsockets)

/// A WebSocket from its upgrade on: moves bytes between a stream and the conversation, and reports what that makes of them.
final class OpenConnection: ByteStreamOwner {
    private let stream: any ByteStream
    private let report: ConnectionReport
    private let timer: LoopTimer
    private let ended: () -> Void
    private let handOver: (@escaping @Sendable () -> Void) -> Void
    private var conversation: WebSocketConversation
    private var isReading = true
    /// Whether large messages are being reported by another thread: until it is done nothing else is.
    private var isHandingOver = false
    /// What came and may not be read yet: with the answer to the upgrade, or while messages are handed over.
    private var early: [UInt8] = []
    /// The end, which came while messages are handed over.
    private var streamEnd: StreamEnd?

    /// Takes a stream over; `ended` is called before the end is reported, `handOver` has something done by another thread, and calls
    /// ``handedOver()`` then.
    init(
        stream: any ByteStream, maximumSize: Int, report: ConnectionReport, timer: LoopTimer, ended: @escaping () -> Void,
        handOver: @escaping (@escaping @Sendable () -> Void) -> Void
    ) {
        self.stream = stream
        self.report = report
        self.timer = timer
        self.ended = ended
        self.handOver = handOver
        conversation = WebSocketConversation(maximumSize: maximumSize, makeKey: { .random(in: 0 ... .max) })
        stream.owner = self
    }

    // MARK: Commands

    /// Queues a message for the next ``flush()``.
    func send(_ text: String) {
        conversation.send(text)
    }

    /// The same for one of which only the last matters.
    func sendUnlessBusy(_ text: String) {
        conversation.sendUnlessBusy(text)
    }

    func setReading(_ reading: Bool) {
        isReading = reading
        readIfAllowed()
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
        if isHandingOver, let closure = conversation.takeClosure() {
            // Nobody will be there to say that the messages are read.
            LargeMessages.perform { [close = report.close] in close(closure) }
            ended()
        }
        flush()
    }

    /// Reads what came before there was a connection to read it.
    func receive(early bytes: [UInt8]) {
        early = bytes
        readIfAllowed()
    }

    private func readIfAllowed() {
        let reads = isReading && !isHandingOver
        stream.setReading(reads)
        if reads, !early.isEmpty { receiveEarly() }
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
        if isHandingOver { return early.append(contentsOf: bytes) }
        if !early.isEmpty { receiveEarly() }
        conversation.receive(bytes)
        flush()
    }

    func streamWritable() {
        flush()
    }

    func streamEnded(_ end: StreamEnd) {
        if isHandingOver {
            streamEnd = end
            return
        }
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

    // MARK: Large messages

    /// Has messages reported by another thread, as reading them takes long; reports of other connections don't wait for that.
    private func handOver(_ messages: borrowing MessageBatch) {
        isHandingOver = true
        stream.setReading(false)
        let copies = messages.copies
        handOver { [receive = report.receive] in MessageBatch.with(copies) { receive($0) } }
    }

    /// The other thread is done with the messages.
    func handedOver() {
        isHandingOver = false
        flush()
        readIfAllowed()
        guard let end = streamEnd, !isHandingOver else { return }
        streamEnd = nil
        streamEnded(end)
    }

    // MARK: The conversation

    /// Does what the conversation has come to.
    func flush() {
        conversation.write { stream.write($0) }
        if !isHandingOver { reportNews() }
        if let time = conversation.takeTimer() {
            timer.set(after: time) { [weak self] in self?.timedOut() }
        }
        if conversation.stream == .closeNow {
            timer.cancel()
            stream.leave()
        }
    }

    private func reportNews() {
        conversation.takeMessages { messages in
            if messages.size > LargeMessages.size { handOver(messages) } else { report.received(messages) }
        }
        guard !isHandingOver else { return }
        if conversation.takeControlFrames() { report.receivedControlFrame() }
        if let closure = conversation.takeClosure() {
            ended()
            report.closed(closure)
        }
    }
}
#endif
