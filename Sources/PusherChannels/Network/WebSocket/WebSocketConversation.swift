/// The exchange of frames over an upgraded connection, from the first frame to the last (RFC 6455, 5 to 7). It does no input or
/// output itself: a backend moves the bytes.
///
/// After each input, the backend takes the outputs in this order: it writes the bytes from ``write(_:)``, passes on the results
/// of ``takeMessages(_:)`` and ``takeControlFrames()``, sets its one timer to ``takeTimer()``, reports ``takeClosure()``, and
/// does with the stream what ``stream`` demands. Pings are answered in the order in which they came, before the messages of the
/// same read are passed on.
struct WebSocketConversation: ~Copyable {
    /// The action to take on the stream.
    enum StreamDemand: Equatable, Sendable {
        /// None for now.
        case keepOpen
        /// Close it when all output is written.
        case closeWhenWritten
        /// Close it now, even if output waits.
        case closeNow
    }

    /// The stages of a connection (7.1).
    private enum Phase {
        case open
        /// Our close frame is in the output (7.1.2), followed only by pongs (5.5.2); the peer's is still to come.
        case closing(code: UInt16, reason: String)
        /// Both close frames were exchanged, and the end was reported. The server should close the stream, because TCP makes the
        /// side that closes first wait (7.1.1).
        case parting
        /// The end was reported. Our last frames may still wait to be written.
        case over
    }

    /// The amount of waiting output beyond which only the last ping is remembered (5.5.3): a peer that sends pings and doesn't
    /// read must not fill the memory.
    private static let replyLimit = 1 << 16
    /// The amount of waiting output beyond which nothing is added: the peer doesn't read, and must not fill the memory.
    private static let outputLimit = 16 << 20

    /// The time without progress that the peer's part of the end may take.
    private let closeTimeout: Duration
    private var reader: MessageReader
    private let writer: FrameWriter
    private var phase = Phase.open
    private var output = ByteQueue()
    private var pendingPing: [UInt8]?
    /// The latest message that was held back for other output.
    private var unsent: String?
    /// The number of unwritten bytes up to the end of our close frame.
    private var unwrittenToClose = 0
    private var messages: [(MessageBatch.Kind, UnsafeRawBufferPointer)] = []
    private var heardControlFrame = false
    private var timer: Duration?
    private var closure: WebSocketClosure?
    private var isReported = false

    /// Creates the conversation after the upgrade. Messages larger than `maximumSize` are refused; `makeKey` draws a mask for
    /// each frame.
    init(maximumSize: Int, closeTimeout: Duration, makeKey: @escaping () -> UInt32) {
        self.closeTimeout = closeTimeout
        reader = MessageReader(maximumSize: maximumSize)
        writer = FrameWriter(makeKey: makeKey)
    }

    // MARK: Inputs

    /// Reads bytes from the stream, which must stay valid until the messages are taken.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        guard isListening else { return }
        var cursor = ByteCursor(bytes)
        do throws(ProtocolViolation) {
            while let event = try reader.next(in: &cursor) { handle(event) }
        } catch {
            fail(error)
        }
    }

    /// Sends a message, which is dropped once the end has begun (5.5.1).
    mutating func send(_ text: String) {
        guard case .open = phase else { return }
        guard output.count <= Self.outputLimit else {
            let problem = "The server doesn't read: more than \(Self.outputLimit >> 20) MiB wait to be sent"
            return cut(TransportError(.connectionLost, problem))
        }
        writer.append(text: text, to: &output.bytes)
    }

    /// Sends a message of which only the last matters. While much output waits, it replaces the one before, as with pings.
    mutating func sendUnlessBusy(_ text: String) {
        guard case .open = phase else { return }
        if output.count > Self.replyLimit { unsent = text } else { send(text) }
    }

    /// Closes for the owner (7.1.2), after everything that it sent before; nothing is sent afterwards.
    mutating func close(code: UInt16, reason: String) {
        guard case .open = phase else { return }
        sendPendingPong()
        writer.append(close: code, reason: reason, to: &output.bytes)
        unwrittenToClose = output.count
        phase = .closing(code: code, reason: reason)
        timer = closeTimeout
    }

    /// Closes for an owner that doesn't wait: the end is reported at once, while the closing handshake continues on its own.
    mutating func abandon() {
        close(code: 1000, reason: "")
        if case .closing(let code, let reason) = phase { report(.closed(code: code, reason: reason)) }
    }

    /// Handles the end of the stream, for whatever reason (7.1.4); `explanation` adds details for people, and begins with a
    /// colon.
    mutating func streamEnded(because explanation: String = "") {
        cut(TransportError(.connectionLost, "The connection was lost without a close frame\(explanation)"))
    }

    /// Ends both directions at once; an open connection fails with `failure`.
    mutating func cut(_ failure: TransportError) {
        output.removeAll()
        switch phase {
        case .open: end(.failed(failure))
        case .closing(let code, let reason): end(.closed(code: code, reason: reason))
        case .parting, .over: phase = .over
        }
    }

    /// Handles the end of the time from ``takeTimer()``: the peer has had its chance.
    mutating func timerFired() {
        if case .open = phase { return }
        streamEnded()
    }

    // MARK: Outputs

    /// The number of bytes of memory that are allocated for messages and control frames that come in parts.
    var capacity: Int { reader.capacity }

    /// Indicates whether there is something to write.
    var hasOutput: Bool { output.count > 0 }

    /// Calls `body` with the bytes to write; it returns how many of them the stream took.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int) {
        let before = output.count
        output.write(body)
        let taken = before - output.count
        guard taken > 0 else { return }
        if pendingPing != nil || unsent != nil, output.count <= Self.replyLimit {
            // If everything was taken, nobody waits for room, and nobody would call this again for the pong.
            let isAllWritten = !hasOutput
            sendPendingPong()
            sendUnsent()
            if isAllWritten { output.write(body) }
        }
        // The peer reads, perhaps slowly, so it gets the full time again. Pongs don't count: it could ask for them without end.
        switch phase {
        case .open: break
        case .closing:
            if unwrittenToClose > 0 { timer = closeTimeout }
            unwrittenToClose -= min(taken, unwrittenToClose)
        case .parting: timer = closeTimeout
        case .over: timer = hasOutput ? closeTimeout : nil
        }
    }

    /// Calls `body` with the messages of the last read, if there are any, and frees their memory.
    ///
    /// `origin` is the information about when they came.
    // Swift 6.3's optimizer fails if it inlines this: a batch can't be copied, and holds a closure.
    @inline(never)
    mutating func takeMessages(_ origin: MessageBatch.Origin = .told(age: .zero), _ body: (borrowing MessageBatch) -> Void) {
        if !messages.isEmpty {
            messages.withUnsafeBufferPointer { body(MessageBatch($0, origin)) }
            // A connection that is idle most of the time doesn't keep the memory of its busiest read.
            messages.removeAll(keepingCapacity: messages.capacity <= 64)
        }
        reader.release()
    }

    /// Returns whether a ping or a pong has come since the last call.
    mutating func takeControlFrames() -> Bool {
        defer { heardControlFrame = false }
        return heardControlFrame
    }

    /// Returns the time after which the timer must ring, instead of the one set before; `nil` leaves it as it is.
    mutating func takeTimer() -> Duration? {
        defer { timer = nil }
        return timer
    }

    /// Returns the report of the end, once.
    mutating func takeClosure() -> WebSocketClosure? {
        defer { closure = nil }
        return closure
    }

    /// The action for the backend to take on the stream.
    var stream: StreamDemand {
        switch phase {
        case .open, .closing, .parting: .keepOpen
        case .over: hasOutput ? .closeWhenWritten : .closeNow
        }
    }

    // MARK: Events

    private var isListening: Bool {
        switch phase {
        case .open, .closing: true
        case .parting, .over: false
        }
    }

    private mutating func handle(_ event: MessageReader.Event) {
        switch event {
        case .message(let kind, let bytes):
            if !isReported { messages.append((kind, bytes)) }
        case .ping(let payload):
            heardControlFrame = !isReported
            sendPong(for: payload)
        case .pong:
            heardControlFrame = !isReported
        case .close(let code, let reason):
            peerClosed(code: code, reason: reason)
        }
    }

    /// Sends a pong, even while the peer still owes us its close frame (5.5.2): only data may not follow ours.
    private mutating func sendPong(for ping: UnsafeRawBufferPointer) {
        if output.count > Self.replyLimit {
            pendingPing = Array(ping)
        } else {
            writer.append(pong: ping, to: &output.bytes)
        }
    }

    private mutating func sendUnsent() {
        guard let text = unsent else { return }
        unsent = nil
        send(text)
    }

    private mutating func sendPendingPong() {
        guard let ping = pendingPing else { return }
        pendingPing = nil
        ping.withUnsafeBytes { writer.append(pong: $0, to: &output.bytes) }
    }

    /// Handles the peer's close frame: it answers ours, or begins the end and is answered with its own code (5.5.1).
    private mutating func peerClosed(code: UInt16, reason: UnsafeRawBufferPointer) {
        if case .closing(let code, let reason) = phase {
            report(.closed(code: code, reason: reason))
        } else {
            writer.append(close: code, reason: "", to: &output.bytes)
            report(.closed(code: code, reason: String(decoding: reason, as: UTF8.self)))
        }
        phase = .parting
        // After the peer's close frame no ping needs a pong (5.5.2).
        pendingPing = nil
        timer = closeTimeout
    }

    /// Fails the connection (7.1.7). If the owner has closed already, its close is reported.
    private mutating func fail(_ violation: ProtocolViolation) {
        if case .closing(let code, let reason) = phase {
            return end(.closed(code: code, reason: reason))
        }
        writer.append(close: violation.code, reason: violation.reason, to: &output.bytes)
        end(.failed(violation.failure))
    }

    private mutating func end(_ closure: WebSocketClosure) {
        report(closure)
        phase = .over
        pendingPing = nil
        if hasOutput { timer = closeTimeout }
    }

    private mutating func report(_ closure: WebSocketClosure) {
        guard !isReported else { return }
        isReported = true
        self.closure = closure
    }
}
