/// Bytes on their way to a socket: first in, first out.
package struct ByteQueue {
    /// The bytes, to the end of which frames are written.
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

    package mutating func append(_ more: [UInt8]) {
        bytes += more
    }

    /// Calls `body` with the first `limit` bytes that wait, or with all if there are fewer.
    package func withPrefix<Result>(_ limit: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[head..<head + min(limit, count)])) }
    }

    /// Removes this many bytes, or all if there are fewer.
    package mutating func removeFirst(_ number: Int) {
        head += min(max(number, 0), count)
        if isEmpty {
            // An idle queue keeps no more memory than a small buffer.
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
            head = 0
        } else if head >= 1 << 16, head * 2 >= bytes.count {
            // Moved up in bulk: a queue that is never empty must not grow, and moving it up at each write takes quadratic time.
            bytes.removeFirst(head)
            head = 0
        }
    }

    package mutating func removeAll() {
        bytes = []
        head = 0
    }

    /// Calls `body` with the waiting bytes, if there are any; `body` returns how many of them were taken.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int) {
        if !isEmpty { removeFirst(withPrefix(.max, body)) }
    }
}
