import Foundation

/// A large message, in any place of which a piece is repeated, perhaps between two others: it costs what its length costs.
///
/// `benchmarks cost` knows which pieces to try, and measures the whole client; here libFuzzer makes pieces up for what reads them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    let place = CostPlace.all[input.choice() % CostPlace.all.count]
    let (head, tail) = (text(input.choices()), text(input.choices()))
    let piece = text(input.rest)
    guard !piece.isEmpty else { return 0 }
    let shape = CostShape("made up", head, tail) { _ in piece }
    let message = place.message(shape, isText: false, size: 1 << 16)
    // Whatever disturbs a try makes it longer, so the least counts.
    let isCheap = (0..<4).contains { _ in ReadingClient.cost(of: message.bytes, in: place.scene) < limit * Double(message.length)
    }
    require(isCheap, "\(place.name): \(head) \(piece) … \(tail)")
    return 0
}

/// Nanoseconds a byte. With the sanitizer on all is some ten times as dear; what takes the square of its length is a thousand times.
private let limit = 1_000.0

private func text(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
}
