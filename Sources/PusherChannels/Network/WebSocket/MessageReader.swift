/// Reads the frames that a server sends (RFC 6455, 5), and returns messages and control frames.
///
/// The input is whatever a read brought: frames, messages and their headers may be split anywhere. A message that lies in one
/// frame and one piece isn't copied: its bytes are those of the input. Nothing is read after a close frame or a violation.
package struct MessageReader: ~Copyable {
    /// A message or a control frame. Messages are valid until ``release()``, a control frame's payload until the next call.
    package enum Event {
        /// A whole message; text is UTF-8.
        case message(MessageBatch.Kind, UnsafeRawBufferPointer)
        /// A ping, to be answered with its payload (5.5.2).
        case ping(UnsafeRawBufferPointer)
        /// A pong (5.5.3).
        case pong(UnsafeRawBufferPointer)
        /// The last event: the peer's close frame (5.5.1). The code is 1005 if there is none; the reason is UTF-8.
        case close(code: UInt16, reason: UnsafeRawBufferPointer)
    }

    private let maximumSize: Int
    private var headers = FrameHeaderReader()
    /// The current frame.
    private var frame: FrameHeader?
    /// The number of bytes of its payload that haven't come yet.
    private var missing = 0
    /// The kind of the current message.
    private var kind: MessageBatch.Kind?
    private var message: ByteAssembly
    /// The state of its text; between messages it is at the end of a character.
    private var validator = UTF8Validator()
    private var control = ByteAssembly(maximumSize: maximumControlPayload)
    private var isFinished = false

    /// Creates a reader that refuses messages of more than `maximumSize` bytes.
    package init(maximumSize: Int) {
        self.maximumSize = maximumSize
        message = ByteAssembly(maximumSize: maximumSize)
    }

    /// Reads up to the next event; returns `nil` if the bytes end before it, or if no more events follow.
    package mutating func next(in cursor: inout ByteCursor) throws(ProtocolViolation) -> Event? {
        guard !isFinished else { return nil }
        do throws(ProtocolViolation) {
            return try read(&cursor)
        } catch {
            isFinished = true
            throw error
        }
    }

    /// The number of bytes of memory that are allocated for messages and control frames that come in parts.
    var capacity: Int { message.capacity + control.capacity }

    /// Frees the memory of the messages read so far.
    package mutating func release() {
        message.release()
    }

    private mutating func read(_ cursor: inout ByteCursor) throws(ProtocolViolation) -> Event? {
        while true {
            let current: FrameHeader
            if let frame {
                current = frame
            } else {
                guard let header = try headers.read(&cursor) else { return nil }
                try begin(header)
                if header.isWholeMessage, let kind, cursor.remaining >= missing {
                    return .message(kind, try takeWhole(kind, &cursor))
                }
                frame = header
                current = header
            }
            if current.opcode.isControl {
                return try readControl(current.opcode, &cursor)
            }
            if let event = try readPiece(of: current, &cursor) { return event }
            guard missing == 0 else { return nil }
        }
    }

    /// Checks a header against the current message (5.4), and its size before any of the payload is kept.
    private mutating func begin(_ header: FrameHeader) throws(ProtocolViolation) {
        if !header.opcode.isControl {
            switch (header.opcode, kind) {
            case (.continuation, nil): throw .continuationWithoutStart
            case (.continuation, _): break
            case (_, .some): throw .messageInsideMessage
            case (let opcode, nil): kind = opcode == .text ? .text : .binary
            }
            guard header.length <= UInt64(clamping: maximumSize - message.count) else {
                throw .messageTooLarge(limit: maximumSize)
            }
        }
        missing = Int(clamping: header.length)
    }

    // MARK: Messages

    /// Takes a message in one frame and one piece, as nearly all of them come.
    private mutating func takeWhole(
        _ kind: MessageBatch.Kind, _ cursor: inout ByteCursor
    ) throws(ProtocolViolation) -> UnsafeRawBufferPointer {
        let bytes = cursor.take(upTo: missing)
        self.kind = nil
        guard kind == .binary || UTF8Validator.isText(bytes) else { throw .invalidText }
        return bytes
    }

    /// Adds to the current message. Text is checked at once, not when the message is complete (8.1 allows both).
    private mutating func readPiece(of frame: FrameHeader, _ cursor: inout ByteCursor) throws(ProtocolViolation) -> Event? {
        let piece = cursor.take(upTo: missing)
        missing -= piece.count
        if kind == .text, !validator.accept(piece) { throw .invalidText }
        message.append(piece)
        guard missing == 0 else { return nil }
        self.frame = nil
        guard frame.isFinal, let kind else { return nil }
        if kind == .text, !validator.isComplete { throw .invalidText }
        self.kind = nil
        return .message(kind, message.finish())
    }

    // MARK: Control frames

    /// Reads a control frame, which may come between the frames of a message (5.4) and therefore has its own memory.
    private mutating func readControl(
        _ opcode: FrameOpcode, _ cursor: inout ByteCursor
    ) throws(ProtocolViolation) -> Event? {
        control.release()
        let piece = cursor.take(upTo: missing)
        missing -= piece.count
        let isWhole = missing == 0 && control.count == 0
        if !isWhole { control.append(piece) }
        guard missing == 0 else { return nil }
        frame = nil
        let payload = isWhole ? piece : control.finish()
        switch opcode {
        case .ping:
            return .ping(payload)
        case .pong:
            return .pong(payload)
        default:
            isFinished = true
            let (code, reason) = try ClosePayload.read(payload)
            return .close(code: code, reason: reason)
        }
    }
}
