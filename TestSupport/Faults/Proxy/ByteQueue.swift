/// Bytes on their way, first in, first out.
struct ByteQueue {
    private var storage: [UInt8] = []
    private var head = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if head > 0, head >= count {
            storage.removeFirst(head)
            head = 0
        }
        storage.append(contentsOf: bytes)
    }

    /// The first so many bytes, or all if there are fewer.
    func withPrefix<Result>(_ limit: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        storage.withUnsafeBytes { bytes in
            body(UnsafeRawBufferPointer(rebasing: bytes[head..<head + min(limit, count)]))
        }
    }

    mutating func removeFirst(_ number: Int) {
        head += number
        if isEmpty { removeAll() }
    }

    mutating func removeAll() {
        // An idle connection keeps no more memory than a small buffer.
        storage.removeAll(keepingCapacity: storage.capacity <= 1 << 16)
        head = 0
    }
}
