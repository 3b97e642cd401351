/// Bytes that wait for the stream to take them, first in, first out.
struct OutputBuffer {
    /// Frames are written to its end.
    var bytes: [UInt8] = []
    /// The number of bytes at the beginning that were taken already.
    private var head = 0

    /// The number of bytes that wait.
    var count: Int { bytes.count - head }

    /// Calls `body` with what waits; `body` tells how much of it the stream took.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int) {
        let (start, waiting) = (head, count)
        guard waiting > 0 else { return }
        let taken = bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        head += min(max(taken, 0), waiting)
        if head == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
            head = 0
        } else if head >= 1 << 16, head * 2 >= bytes.count {
            // Moved up in bulk: output that never runs dry must not grow, and moving it up at each write costs the square.
            bytes.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll() {
        bytes = []
        head = 0
    }
}
