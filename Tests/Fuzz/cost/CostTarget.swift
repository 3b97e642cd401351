import Foundation

/// Checks that the cost of a large message is proportional to its length. The message has a repeated piece in one of its places,
/// with an optional head and tail around the repetitions.
///
/// `benchmarks cost` tries known pieces and measures the whole client. Here, libFuzzer makes up pieces for the code that reads
/// them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    let place = CostPlace.all[input.choice() % CostPlace.all.count]
    let (head, tail) = (text(input.choices()), text(input.choices()))
    let piece = text(input.rest)
    guard !piece.isEmpty else { return 0 }
    let shape = CostShape("made up", head, tail) { _ in piece }
    let message = place.message(shape, isText: false, size: 1 << 16)
    // Interference only makes a try longer, so the shortest try counts.
    let isCheap = (0..<4).contains { _ in ReadingClient.cost(of: message.bytes, in: place.scene) < limit * Double(message.length)
    }
    require(isCheap, "\(place.name): \(head) \(piece) … \(tail)")
    return 0
}

/// The limit in nanoseconds per byte. The sanitizer makes everything about ten times as slow; quadratic code is a thousand times
/// as slow.
private let limit = 1_000.0

private func text(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
}
