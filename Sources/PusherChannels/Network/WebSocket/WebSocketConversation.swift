/// The exchange of frames over an upgraded connection, from the first frame to the last (RFC 6455, 5 to 7): pure, so that a backend only
/// moves bytes.
///
/// After each input the backend looks at the outputs, in this order: it writes what ``write(_:)`` hands it, passes on what
/// ``takeMessages(_:)`` and ``takeControlFrames()`` have, sets its one timer as ``takeTimer()`` says, reports what
/// ``takeClosure()`` has, and does with the stream what ``stream`` demands. Pings are answered in the order in which they came,
/// before the messages of the same read are passed on.
struct WebSocketConversation: ~Copyable {
    /// The fate of the stream.
    enum StreamDemand: Equatable, Sendable {
        /// Nothing for now.
        case keepOpen
        /// It is to be closed when all output is written.
        case closeWhenWritten
        /// It is to be closed, whatever waits.
        case closeNow
    }

    /// The stages of a connection (7.1).
    private enum Phase {
        case open
        /// Our close frame is in the output (7.1.2), only pongs follow it (5.5.2); the peer's is to come.
        case closing(code: UInt16, reason: String)
        /// Both close frames are there, reported: the server is to close the stream, so that the waiting that TCP asks of the
        /// one who closes first is not ours (7.1.1).
        case parting
        /// Reported. Our last frames may still wait to be written.
        case over
    }

    /// While more output than this waits, only the last ping is remembered (5.5.3): a peer that sends pings and doesn't read
    /// must not fill the memory.
    private static let replyLimit = 1 << 16
    /// While more output than this waits, nothing is added: the peer doesn't read, and what waits must not fill the memory.
    private static let outputLimit = 16 << 20

    /// The time that the peer may take over its part of the end without anything moving.
    private let closeTimeout: Duration
    private var reader: MessageReader
    private let writer: FrameWriter
    private var phase = Phase.open
    private var output = ByteQueue()
    private var pendingPing: [UInt8]?
    /// The last message that gave way to other output.
    private var unsent: String?
    /// The number of bytes of output up to the end of our close frame.
    private var unwrittenToClose = 0
    private var messages: [(MessageBatch.Kind, UnsafeRawBufferPointer)] = []
    private var heardControlFrame = false
    private var timer: Duration?
    private var closure: WebSocketClosure?
    private var isReported = false

    /// Begins after the upgrade. Larger messages than `maximumSize` are refused; `makeKey` draws a mask for each frame.
    init(maximumSize: Int, closeTimeout: Duration, makeKey: @escaping () -> UInt32) {
        self.closeTimeout = closeTimeout
        reader = MessageReader(maximumSize: maximumSize)
        writer = FrameWriter(makeKey: makeKey)
    }

    // MARK: Inputs

    /// The stream brought bytes; they must stay until the messages are taken.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        guard isListening else { return }
        var cursor = ByteCursor(bytes)
        do throws(ProtocolViolation) {
            while let event = try reader.next(in: &cursor) { handle(event) }
        } catch {
            fail(error)
        }
    }

    /// A message is to be sent; dropped once the end has begun (5.5.1).
    mutating func send(_ text: String) {
        guard case .open = phase else { return }
        guard output.count <= Self.outputLimit else {
            let problem = "The server doesn't read: more than \(Self.outputLimit >> 20) MiB wait to be sent"
            return cut(WebSocketFailure(.connectionLost, problem))
        }
        writer.append(text: text, to: &output.bytes)
    }

    /// Sends a message of which only the last matters: while much waits, as with pings, it takes the place of the one before.
    mutating func sendUnlessBusy(_ text: String) {
        guard case .open = phase else { return }
        if output.count > Self.replyLimit { unsent = text } else { send(text) }
    }

    /// The owner closes (7.1.2): after what it sent before, nothing after.
    mutating func close(code: UInt16, reason: String) {
        guard case .open = phase else { return }
        sendPendingPong()
        writer.append(close: code, reason: reason, to: &output.bytes)
        unwrittenToClose = output.count
        phase = .closing(code: code, reason: reason)
        timer = closeTimeout
    }

    /// The owner closes and waits for nothing: reported at once, while the closing handshake goes on by itself.
    mutating func abandon() {
        close(code: 1000, reason: "")
        if case .closing(let code, let reason) = phase { report(.closed(code: code, reason: reason)) }
    }

    /// The stream ended, in whichever way (7.1.4); `explanation` says more for a person, and begins with a colon.
    mutating func streamEnded(because explanation: String = "") {
        cut(WebSocketFailure(.connectionLost, "The connection was lost without a close frame\(explanation)"))
    }

    /// Nothing more is to be said or heard; an open connection failed like this.
    mutating func cut(_ failure: WebSocketFailure) {
        output.removeAll()
        switch phase {
        case .open: end(.failed(failure))
        case .closing(let code, let reason): end(.closed(code: code, reason: reason))
        case .parting, .over: phase = .over
        }
    }

    /// The time that ``takeTimer()`` gave is over: the peer has had its chance.
    mutating func timerFired() {
        if case .open = phase { return }
        streamEnded()
    }

    // MARK: Outputs

    /// The number of bytes it holds for messages that came in parts.
    var capacity: Int { reader.capacity }

    /// True if there is something to write.
    var hasOutput: Bool { output.count > 0 }

    /// Calls `body` with what is to be written; it returns how much of that the stream took.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int) {
        let before = output.count
        output.write(body)
        let taken = before - output.count
        guard taken > 0 else { return }
        if pendingPing != nil || unsent != nil, output.count <= Self.replyLimit {
            // Where all was taken nobody waits for room, and nobody would call this for the pong.
            let isAllWritten = !hasOutput
            sendPendingPong()
            sendUnsent()
            if isAllWritten { output.write(body) }
        }
        // The peer reads, slowly perhaps: it gets the full time again. Not for pongs: it could ask for them without end.
        switch phase {
        case .open: break
        case .closing:
            if unwrittenToClose > 0 { timer = closeTimeout }
            unwrittenToClose -= min(taken, unwrittenToClose)
        case .parting: timer = closeTimeout
        case .over: timer = hasOutput ? closeTimeout : nil
        }
    }

    /// Calls `body` with the messages of the last read, if there are any, and takes their memory back.
    ///
    /// `origin` is what is known of when they came.
    // Swift 6.3's optimizer fails where it inlines this: a batch can't be copied, and holds a closure.
    @inline(never)
    mutating func takeMessages(_ origin: MessageBatch.Origin = .told(age: .zero), _ body: (borrowing MessageBatch) -> Void) {
        if !messages.isEmpty {
            messages.withUnsafeBufferPointer { body(MessageBatch($0, origin)) }
            // A connection that is idle most of the time doesn't keep what its busiest read took.
            messages.removeAll(keepingCapacity: messages.capacity <= 64)
        }
        reader.release()
    }

    /// Returns whether a ping or a pong came since this was asked last.
    mutating func takeControlFrames() -> Bool {
        defer { heardControlFrame = false }
        return heardControlFrame
    }

    /// The time from now after which the timer is to ring, instead of what it was set to before; `nil` leaves it as it is.
    mutating func takeTimer() -> Duration? {
        defer { timer = nil }
        return timer
    }

    /// The report of the end: once.
    mutating func takeClosure() -> WebSocketClosure? {
        defer { closure = nil }
        return closure
    }

    /// The thing for the backend to do with the stream.
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

    /// Also while the peer owes us its close frame (5.5.2): only data may not follow ours.
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

    /// The peer's close frame: the answer to ours, or the beginning of the end, answered with its own code (5.5.1).
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

    /// Fails the connection (7.1.7). To an owner that closed already it is closed.
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
