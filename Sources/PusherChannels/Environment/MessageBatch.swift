/// The messages of one read, in order, borrowed for the length of a delegate call.
public struct MessageBatch: ~Copyable {
    /// The kind of a message, as its frame's opcode gave it.
    public enum Kind: Equatable, Sendable {
        /// UTF-8 text, which the Channels protocol uses.
        case text
        /// Binary, which protocol 7 doesn't use.
        case binary
    }

    private let messages: UnsafeBufferPointer<(Kind, UnsafeRawBufferPointer)>

    /// The most that the messages may have waited to be read: the time since everything before them is known to have been read.
    /// It is zero if that is less than a tenth of a second. They really have waited if the process was suspended or reading was
    /// stopped; otherwise, nothing came for that time.
    ///
    /// If the connection is lost, events may be missing since then (``PusherDelegate/eventsMayBeMissing(channelName:since:)``). A
    /// socket that doesn't know says zero.
    public var age: Duration {
        switch origin {
        case .told(let age): return age
        case .since(let time, let now):
            // Computed when it is asked for, because the thread that handles the messages may be suspended until then.
            let age = now() - time
            return age > Self.notableAge ? age : .zero
        }
    }

    /// The information about when the messages came.
    enum Origin: Sendable {
        case told(age: Duration)
        /// Everything that had come by this time, on the given clock, was read before.
        case since(Instant, now: @Sendable () -> Instant)
    }

    /// The shortest wait that counts; messages that waited less were read as they came.
    private static var notableAge: Duration { .milliseconds(100) }

    let origin: Origin

    /// Creates a batch of messages whose memory the caller keeps for as long as the batch is used.
    public init(_ messages: UnsafeBufferPointer<(Kind, UnsafeRawBufferPointer)>, age: Duration = .zero) {
        self.init(messages, .told(age: age))
    }

    init(_ messages: UnsafeBufferPointer<(Kind, UnsafeRawBufferPointer)>, _ origin: Origin) {
        self.messages = messages
        self.origin = origin
    }

    /// The number of messages; zero for a read that brought control frames only.
    public var count: Int { messages.count }

    /// Calls `body` with each message's kind and bytes; the bytes must not be kept.
    public borrowing func forEach<Failure: Error>(
        _ body: (Kind, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        for index in 0..<messages.count {
            try body(messages[index].0, messages[index].1)
        }
    }

    /// The number of bytes of all messages together.
    var size: Int { messages.reduce(0) { $0 + $1.1.count } }

    /// Copies of the messages, which may be kept.
    var copies: [(Kind, [UInt8])] { messages.map { ($0.0, [UInt8]($0.1)) } }

    /// Calls `body` with a batch of messages that were copied.
    static func with(_ messages: [(Kind, [UInt8])], _ origin: Origin, _ body: (borrowing MessageBatch) -> Void) {
        let pointers = messages.map { kind, bytes in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
            copy.copyBytes(from: bytes)
            return (kind, UnsafeRawBufferPointer(copy))
        }
        defer { for (_, bytes) in pointers { bytes.deallocate() } }
        pointers.withUnsafeBufferPointer { body(MessageBatch($0, origin)) }
    }

    /// The largest size of a block, unless it holds one message that is larger.
    private static var blockSize: Int { 960 }  // Below 1 KiB, from which on malloc may first tidy up all that was freed.

    /// Copies the messages to memory that may be kept, and calls `body` with each one's kind, its block, and its range in the
    /// block.
    ///
    /// Several messages share a block, because an allocation for each would cost as much as reading it does. A block is small, so
    /// an event that an application keeps for long doesn't keep a whole read.
    borrowing func forEachInBlocks(_ body: (Kind, [UInt8], Range<Int>) -> Void) {
        var first = 0
        while first < messages.count {
            var end = first
            var size = 0
            repeat {
                size += messages[end].1.count
                end += 1
            } while end < messages.count && size + messages[end].1.count <= Self.blockSize
            var block: [UInt8] = []
            block.reserveCapacity(size)
            for index in first..<end { block.append(contentsOf: messages[index].1) }
            var start = 0
            for index in first..<end {
                let (kind, bytes) = messages[index]
                body(kind, block, start..<start + bytes.count)
                start += bytes.count
            }
            first = end
        }
    }

    /// Calls `body` with a batch of one text message; for test doubles and custom sockets that hold strings.
    public static func withText<Result>(
        _ text: String, age: Duration = .zero, _ body: (borrowing MessageBatch) -> Result
    ) -> Result {
        withText(Array(text.utf8), age: age, body)
    }

    /// Calls `body` with a batch of one text message, whose bytes need not be valid UTF-8.
    package static func withText<Result>(
        _ bytes: [UInt8], age: Duration = .zero, _ body: (borrowing MessageBatch) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { bytes in
            withUnsafePointer(to: (Kind.text, bytes)) { message in
                body(MessageBatch(UnsafeBufferPointer(start: message, count: 1), age: age))
            }
        }
    }

    /// Returns the batch of a read that brought control frames only; for test doubles and custom sockets.
    public static func controlFrames(age: Duration = .zero) -> MessageBatch {
        controlFrames(.told(age: age))
    }

    static func controlFrames(_ origin: Origin) -> MessageBatch {
        MessageBatch(UnsafeBufferPointer(start: nil, count: 0), origin)
    }
}
