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
