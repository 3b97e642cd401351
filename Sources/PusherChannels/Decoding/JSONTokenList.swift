/// Tokens in memory that whoever has the list must deallocate.
struct JSONTokenList {
    private(set) var memory: UnsafeMutablePointer<JSONToken>
    private(set) var count = 0
    private var capacity: Int

    /// There is room for as many tokens as most texts of so many bytes have.
    init(for bytes: Int) {
        capacity = bytes / 4 + 8
        memory = .allocate(capacity: capacity)
    }

    subscript(index: Int) -> JSONToken {
        get { memory[index] }
        nonmutating _modify { yield &memory[index] }
    }

    @inline(__always)
    mutating func append(_ token: JSONToken) {
        if count == capacity { grow() }
        (memory + count).initialize(to: token)
        count += 1
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        let larger = UnsafeMutablePointer<JSONToken>.allocate(capacity: capacity)
        larger.moveInitialize(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }
}
