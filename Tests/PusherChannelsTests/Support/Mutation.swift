@testable import PusherChannels

/// Documents with a few changed bytes, deterministic for each seed.
struct Mutation {
    private var generator: SplitMix64
    /// The bytes that matter to the grammar, and a few that don't.
    private static let alphabet =
        Array("{}[]\",:\\/ \t\n\u{0}\u{1}0123456789.eE+-truefalsnlbu".utf8) + [0x80, 0xBF, 0xC3, 0xE2, 0xFF]

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    mutating func next(of documents: [String]) -> [UInt8] {
        var bytes = Array(documents[below(documents.count)].utf8)
        for _ in 0...below(3) { change(&bytes) }
        return bytes
    }

    private mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<max(bound, 1), using: &generator)
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(Self.alphabet[below(Self.alphabet.count)]) }
        let place = below(bytes.count)
        let end = min(place + 1 + below(6), bytes.count)
        switch below(6) {
        case 0: bytes[place] = Self.alphabet[below(Self.alphabet.count)]
        case 1: bytes.insert(Self.alphabet[below(Self.alphabet.count)], at: place)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: below(bytes.count))
        case 4: bytes.removeSubrange(place..<end)
        default: bytes.swapAt(place, below(bytes.count))
        }
    }
}
