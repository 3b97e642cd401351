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
    let heardBefore = ReferenceReader.events(of: before, limit: limit)
    Expectation(events: expected, before: heardBefore, action: action).check(outcomes[0])
    return 0
}

/// Returns the first fragment of a binary message, which would take the fuzzer long to make up; nothing for size 0.
private func fragment(ofSize size: Int) -> [UInt8] {
    guard size > 0 else { return [] }
    return [0x02] + (size < 126 ? [UInt8(size)] : [126, UInt8(size >> 8), UInt8(size & 0xFF)])
        + (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
}
