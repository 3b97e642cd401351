/// Passes a server's bytes, split anywhere, through ``MessageReader`` and ``WebSocketConversation``.
///
/// The input has the limit of messages, the owner's action and its place, the amount of output that the stream takes at a time,
/// the size of a fragment that comes first, the sizes of the reads, and the stream.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    // If there are more pongs than the conversation sends at a time, the outcome may depend on the splits.
    guard size <= 8192 else { return -1 }
    var input = FuzzInput(data, size)
    let limit = [0, 10, 130, 300, 1000, 3000, 1 << 20, .max][input.choice() & 7]
    let (action, time) = (OwnerAction(input.choice()), input.choice())
    let room = input.choice()
    let beginning = fragment(ofSize: 16 * input.choice())
    let sizes = input.choices()
    let stream = beginning + input.rest

    let expected = ReferenceReader.events(of: stream[...], limit: limit)
    let cuts = [
        [stream[...]], pieces(of: stream[...], sizes: sizes),
        [stream[..<beginning.count]] + pieces(of: stream[beginning.count...], sizes: [1]),
    ]
    for reads in cuts {
        let heard = ReaderRun.events(of: reads, limit: limit)
        require(heard == expected, "in reads of \(reads.map(\.count)) came \(heard), not \(expected)")
    }

    // The owner acts at the same place of the stream, however it is cut.
    let place = min(beginning.count + time, stream.count)
    let (before, after) = (stream[..<place], stream[place...])
    let outcomes = [[], sizes, beginning.isEmpty ? [1] : [101, 1, 1]].map { sizes in
        ConversationRun.outcome(
            before: pieces(of: before, sizes: sizes), action, after: pieces(of: after, sizes: sizes), limit: limit,
            room: sizes.isEmpty ? .max : room)
    }
    for outcome in outcomes {
        require(outcome == outcomes[0], "cut differently it is \(outcome), not \(outcomes[0])")
    }
    let receivedBefore = ReferenceReader.events(of: before, limit: limit)
    Expectation(events: expected, before: receivedBefore, action: action).check(outcomes[0])
    return 0
}

/// Returns the first fragment of a binary message, which would take the fuzzer long to make up; nothing for size 0.
private func fragment(ofSize size: Int) -> [UInt8] {
    guard size > 0 else { return [] }
    return [0x02] + (size < 126 ? [UInt8(size)] : [126, UInt8(size >> 8), UInt8(size & 0xFF)])
        + (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
}

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
