/// Bytes on their way to a socket: first in, first out.
package struct ByteQueue {
    /// Frames are written to its end.
    var bytes: [UInt8] = []
    /// The number of bytes at the beginning that were taken already.
    private var head = 0

    package init() {}

    /// The number of bytes that wait.
    package var count: Int { bytes.count - head }

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ more: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: more)
    }

    /// Calls `body` with the first `limit` bytes of what waits, or all of it.
    package func withPrefix<Result>(_ limit: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[head..<head + min(limit, count)])) }
    }

    /// Takes so many bytes, or all if there are fewer.
    package mutating func removeFirst(_ number: Int) {
        head += min(max(number, 0), count)
        if isEmpty {
            // What is idle keeps no more memory than a small buffer.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
            head = 0
        } else if head >= 1 << 16, head * 2 >= bytes.count {
            // Moved up in bulk: output that never runs dry must not grow, and moving it up at each write costs the square.
            bytes.removeFirst(head)
            head = 0
        }
    }

    package mutating func removeAll() {
        bytes = []
        head = 0
    }

    /// Calls `body` with what waits, if anything does; `body` tells how much of it was taken.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int) {
        if !isEmpty { removeFirst(withPrefix(.max, body)) }
    }
}
