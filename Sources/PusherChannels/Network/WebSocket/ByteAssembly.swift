/// Memory in which the pieces of messages are put together, one message after the other.
///
/// A finished message stays where it is until ``release()``, whatever is added after it: a read may finish several, and all
/// of them are handed over together.
struct ByteAssembly: ~Copyable {
    /// More memory than this is not kept for the next message.
    private static let keptCapacity = 1 << 16

    /// No message is larger.
    private let maximumSize: Int
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The message in hand is `start..<end`; what is before it is finished.
    private var start = 0
    private var end = 0
    /// Outgrown memory with finished messages in it.
    private var outgrown: [UnsafeMutableRawBufferPointer] = []

    /// Creates an assembly for messages of at most `maximumSize` bytes, as the caller sees to.
    init(maximumSize: Int) {
        self.maximumSize = maximumSize
    }

    deinit {
        memory.deallocate()
        for old in outgrown { old.deallocate() }
    }

    /// Size of the message in hand.
    var count: Int { end - start }

    /// The number of bytes of memory it holds.
    var capacity: Int { outgrown.reduce(memory.count) { $0 + $1.count } }

    /// Adds a piece to the message in hand.
    mutating func append(_ piece: UnsafeRawBufferPointer) {
        guard !piece.isEmpty else { return }
        if memory.count - end < piece.count { grow(toHold: count + piece.count) }
        UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyMemory(from: piece)
        end += piece.count
    }

    /// Ends the message in hand; its bytes are valid until ``release()``.
    mutating func finish() -> UnsafeRawBufferPointer {
        defer { start = end }
        return UnsafeRawBufferPointer(rebasing: memory[start..<end])
    }

    /// Takes back the memory of all finished messages.
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

    /// Moves the message in hand to larger memory. Sized by what came and not by what a header announces: announcing is cheap.
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
