/// The input that libFuzzer generated: choices at the beginning, then data that each target interprets in its own way.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ data: UnsafePointer<UInt8>, _ size: Int) {
        rest = Array(UnsafeBufferPointer(start: data, count: size))[...]
    }

    /// Returns the next byte, or 0 at the end.
    mutating func choice() -> Int {
        Int(rest.popFirst() ?? 0)
    }

    /// Returns as many bytes as the next byte says, or as many as are left.
    mutating func choices() -> [UInt8] {
        let chosen = rest.prefix(choice())
        rest = rest.dropFirst(chosen.count)
        return Array(chosen)
    }
}

/// Ends the run when a property doesn't hold; libFuzzer keeps the input.
func require(_ holds: Bool, _ property: @autoclosure () -> String) {
    guard holds else { fatalError("property: \(property())") }
}

/// Calls `body` with a copy that is freed afterwards, which exposes any access after the call or beyond the copy's end.
func withMemory<Result>(of bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    return body(UnsafeRawBufferPointer(memory))
}

/// Splits the stream into reads of these sizes, which repeat. Returns a single read if all sizes are 0.
func pieces(of stream: ArraySlice<UInt8>, sizes: [UInt8]) -> [ArraySlice<UInt8>] {
    guard sizes.contains(where: { $0 > 0 }) else { return [stream] }
    var (rest, pieces, turn) = (stream, [ArraySlice<UInt8>](), 0)
    while !rest.isEmpty {
        let piece = rest.prefix(Int(sizes[turn % sizes.count]))
        rest = rest.dropFirst(piece.count)
        pieces.append(piece)
        turn += 1
    }
    return pieces
}
