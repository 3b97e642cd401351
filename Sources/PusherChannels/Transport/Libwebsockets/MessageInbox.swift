#if canImport(CLibwebsockets)

/// Gathers the messages that one read of a connection brings, to hand them over in one call.
///
/// One inbox serves all connections: libwebsockets finishes with a read of one before it turns to the next.
final class MessageInbox {
    private let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    private var used = 0
    private var messages: [(MessageBatch.Kind, UnsafeRawBufferPointer)] = []
    private var owner: LibwebsocketsConnection?

    deinit {
        storage.deallocate()
    }

    /// Keeps a whole message for the next delivery; one that is too large to copy is delivered at once.
    func add(_ kind: MessageBatch.Kind, _ bytes: UnsafeRawBufferPointer, for connection: LibwebsocketsConnection) {
        if owner !== connection || storage.count - used < bytes.count {
            deliver()
            owner = connection
        }
        guard bytes.count <= storage.count else {
            messages.append((kind, bytes))
            deliver()
            return
        }
        let copy = UnsafeMutableRawBufferPointer(rebasing: storage[used..<used + bytes.count])
        copy.copyMemory(from: bytes)
        used += bytes.count
        messages.append((kind, UnsafeRawBufferPointer(copy)))
    }

    /// Delivers what waits for a connection, before something else is reported of it.
    func deliver(for connection: LibwebsocketsConnection) {
        if owner === connection { deliver() }
    }

    /// Delivers what waits.
    func deliver() {
        guard let owner else { return }
        self.owner = nil
        if !messages.isEmpty {
            messages.withUnsafeBufferPointer { owner.report.received(MessageBatch($0)) }
            messages.removeAll(keepingCapacity: true)
        }
        used = 0
    }
}

/// Puts a message together from the pieces in which it comes: the fragments its sender made, and parts of a read buffer's size.
struct MessageAssembler {
    /// Larger messages are refused; no Channels server sends a hundredth of it.
    static let maximumSize = 16 << 20

    private var bytes: [UInt8] = []

    /// Adds a piece and says whether the message may become as large as `announced` bytes more make it.
    mutating func add(_ piece: UnsafeRawBufferPointer, isFirst: Bool, announced: Int) -> Bool {
        if isFirst { bytes.removeAll(keepingCapacity: true) }
        guard announced <= Self.maximumSize, bytes.count + piece.count <= Self.maximumSize - announced else { return false }
        bytes.append(contentsOf: piece)
        return true
    }

    /// Passes the message on and forgets it, with its memory if that is much.
    mutating func take(_ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes(body)
        bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 16)
    }
}
#endif
