/// Memory in which the pieces of messages are put together, one message after the other.
///
/// A finished message stays in place until ``release()``, even if others are added: a read may finish several messages, which are
/// handed over together.
struct ByteAssembly: ~Copyable {
    /// The most memory that is kept for the next message.
    private static let keptCapacity = 1 << 16

    /// The size of the largest message.
    private let maximumSize: Int
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The current message is `start..<end`; the bytes before it belong to finished ones.
    private var start = 0
    private var end = 0
    /// Outgrown memory that holds finished messages.
    private var outgrown: [UnsafeMutableRawBufferPointer] = []

    /// Creates an assembly for messages of at most `maximumSize` bytes, which the caller enforces.
    init(maximumSize: Int) {
        self.maximumSize = maximumSize
    }

    deinit {
        memory.deallocate()
        for old in outgrown { old.deallocate() }
    }

    /// The size of the current message.
    var count: Int { end - start }

    /// The number of bytes of memory that are allocated.
    var capacity: Int { outgrown.reduce(memory.count) { $0 + $1.count } }

    /// Adds a piece to the current message.
    mutating func append(_ piece: UnsafeRawBufferPointer) {
        guard !piece.isEmpty else { return }
        if memory.count - end < piece.count { grow(toHold: count + piece.count) }
        UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyMemory(from: piece)
        end += piece.count
    }

    /// Ends the current message; its bytes are valid until ``release()``.
    mutating func finish() -> UnsafeRawBufferPointer {
        defer { start = end }
        return UnsafeRawBufferPointer(rebasing: memory[start..<end])
    }

    /// Frees the memory of all finished messages.
    mutating func release() {
        if !outgrown.isEmpty {
            for old in outgrown { old.deallocate() }
            outgrown.removeAll()
        }
        guard start > 0 else { return }
        let unfinished = UnsafeRawBufferPointer(rebasing: memory[start..<end])
        if unfinished.isEmpty, memory.count > Self.keptCapacity {
            memory.deallocate()
            memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        } else {
            memory.copyMemory(from: unfinished)
        }
        (start, end) = (0, unfinished.count)
    }

    /// Moves the current message to larger memory. Its size depends on the bytes that came, not on a header's announcement, which
    /// costs the peer nothing.
    private mutating func grow(toHold needed: Int) {
        let size = max(needed, min(2 * memory.count, maximumSize), 1024)
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        let unfinished = UnsafeRawBufferPointer(rebasing: memory[start..<end])
        larger.copyMemory(from: unfinished)
        if start > 0 {
            outgrown.append(memory)
        } else {
            memory.deallocate()
        }
        (start, end) = (0, unfinished.count)
        memory = larger
    }
}
