/// A run of a stream through a ``MessageReader``.
enum ReaderRun {
    /// Returns the events in these reads, each of which is in its own memory.
    static func events(of reads: [ArraySlice<UInt8>], limit: Int) -> [StreamEvent] {
        var reader = MessageReader(maximumSize: limit)
        var events: [StreamEvent] = []
        var received = 0
        for read in reads {
            withMemory(of: read) { events += add($0, to: &reader) }
            received += read.count
            reader.release()
            // Twice the received bytes, because the buffer grows by doubling; at least 1024 bytes, and 1024 more for control
            // frames.
            let allowed = max(min(limit, 2 * received), 1024) + 1024
            require(reader.capacity <= allowed, "it holds \(reader.capacity) bytes, \(allowed) are allowed")
        }
        return events
    }

    private static func add(_ read: UnsafeRawBufferPointer, to reader: inout MessageReader) -> [StreamEvent] {
        var cursor = ByteCursor(read)
        // Messages stay valid until the whole read is processed, so they are looked at only then.
        var events: [() -> StreamEvent] = []
        do throws(ProtocolViolation) {
            while let event = try reader.next(in: &cursor) { events.append(later(event)) }
        } catch {
            events.append { .violation(code: error.code) }
        }
        return events.map { $0() }
    }

    private static func later(_ event: MessageReader.Event) -> () -> StreamEvent {
        let now: StreamEvent
        switch event {
        case .message(let kind, let bytes): return { .message(isText: kind == .text, Array(bytes)) }
        case .ping(let payload): now = .ping(Array(payload))
        case .pong(let payload): now = .pong(Array(payload))
        case .close(let code, let reason): now = .close(code: code, Array(reason))
        }
        return { now }
    }
}
