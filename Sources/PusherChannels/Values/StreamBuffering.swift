/// The size of a stream's buffer, and the policy for when it is full.
public struct StreamBuffering: Equatable, Sendable {
    /// The policy for elements that come when the buffer is full.
    public enum Overflow: Equatable, Sendable {
        /// Reading from the connection pauses until half of the buffer is free again, which makes the server wait. If that takes
        /// longer than ``PusherClientOptions/pauseLimit``, the stream throws `readerTooSlow` once its elements have been read.
        case pauseThenEnd
        /// Reading from the connection pauses for at most ``PusherClientOptions/pauseLimit``. Then the stream continues without
        /// the elements that find no room; ``PusherStream/dropped`` counts them.
        case pauseThenDrop
        /// The oldest element is dropped to make room for the newest; ``PusherStream/dropped`` counts it.
        case dropOldest
        /// New elements that find no room are dropped; ``PusherStream/dropped`` counts them.
        case dropNewest

        var pauses: Bool { self == .pauseThenEnd || self == .pauseThenDrop }
    }

    /// The maximum number of elements in the buffer; at least one. With a policy that pauses, elements from one read of the
    /// connection may exceed it.
    public var limit: Int {
        didSet { limit = max(limit, 1) }
    }
    /// The maximum total size of these elements in bytes; at least one. For an event, the bytes of its message count.
    public var byteLimit: Int {
        didSet { byteLimit = max(byteLimit, 1) }
    }
    /// The policy for further elements.
    public var overflow: Overflow

    /// Creates a buffering. By default, the buffer holds a thousand elements or 4 MiB, then the server waits.
    public init(limit: Int = 1000, byteLimit: Int = 4 << 20, overflow: Overflow = .pauseThenEnd) {
        self.limit = max(limit, 1)
        self.byteLimit = max(byteLimit, 1)
        self.overflow = overflow
    }
}
