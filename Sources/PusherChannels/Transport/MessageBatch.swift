/// The messages that one read brought, in order, borrowed for the length of a delegate call.
public struct MessageBatch: ~Copyable {
    /// A message's kind as its frame's opcode gave it.
    public enum Kind: Equatable, Sendable {
        /// UTF-8 text, what the Channels protocol uses.
        case text
        /// Binary, which protocol 7 doesn't use.
        case binary
    }

    private let messages: UnsafeBufferPointer<(Kind, UnsafeRawBufferPointer)>

    /// Wraps messages whose memory the caller keeps for as long as the batch is used.
    public init(_ messages: UnsafeBufferPointer<(Kind, UnsafeRawBufferPointer)>) {
        self.messages = messages
    }

    /// How many messages there are.
    public var count: Int { messages.count }

    /// Calls `body` with each message's kind and bytes; the bytes must not be kept.
    public borrowing func forEach<Failure: Error>(
        _ body: (Kind, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        for index in 0..<messages.count {
            try body(messages[index].0, messages[index].1)
        }
    }

    /// Calls `body` with a batch of one text message; for test doubles and custom sockets that hold strings.
    public static func withText<Result>(_ text: String, _ body: (borrowing MessageBatch) -> Result) -> Result {
        var text = text
        return text.withUTF8 { utf8 in withText(UnsafeRawBufferPointer(utf8), body) }
    }

    /// The same of bytes, which may be no UTF-8.
    package static func withText<Result>(_ bytes: [UInt8], _ body: (borrowing MessageBatch) -> Result) -> Result {
        bytes.withUnsafeBytes { withText($0, body) }
    }

    private static func withText<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (borrowing MessageBatch) -> Result
    ) -> Result {
        withUnsafePointer(to: (Kind.text, bytes)) { message in
            body(MessageBatch(UnsafeBufferPointer(start: message, count: 1)))
        }
    }
}
