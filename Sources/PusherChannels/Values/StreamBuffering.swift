/// The amount that may wait for the reader of a stream, and what happens when it is more.
public struct StreamBuffering: Equatable, Sendable {
    /// The treatment of elements that find a stream full.
    public enum Overflow: Equatable, Sendable {
        /// The connection is read no further until half of the buffer is free again, so that the server waits; if that takes longer than
        /// ``PusherClientOptions/pauseLimit``, the stream throws `readerTooSlow` once what it holds was read.
        case pauseThenEnd
        /// Nothing is read for a while; then the stream goes on, without what finds no room; ``PusherStream/dropped`` counts it.
        case pauseThenDrop
        /// The oldest element makes room for the newest; ``PusherStream/dropped`` counts it.
        case dropOldest
        /// New elements that find no room are dropped; ``PusherStream/dropped`` counts it.
        case dropNewest

        var pauses: Bool { self == .pauseThenEnd || self == .pauseThenDrop }
    }

    /// The largest number of elements that may wait; at least one. With an overflow that pauses, what one read of the connection
    /// brings may come on top.
    public var limit: Int
    /// The largest number of bytes they may have together: of an event, those of its message. At least one.
    public var byteLimit: Int
    /// The treatment of more elements.
    public var overflow: Overflow

    /// Creates a buffering; a thousand elements or 4 MiB, then the server waits.
    public init(limit: Int = 1000, byteLimit: Int = 4 << 20, overflow: Overflow = .pauseThenEnd) {
        self.limit = max(limit, 1)
        self.byteLimit = max(byteLimit, 1)
        self.overflow = overflow
    }
}
