/// SHA-1 (FIPS 180-4), which RFC 6455 takes to show that a server understood the upgrade; it protects nothing there.
enum SHA1 {
    /// The digest's twenty bytes.
    static func digest(_ message: some Sequence<UInt8>) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        let padded = pad(Array(message))
        for start in stride(from: 0, to: padded.count, by: 64) {
            add(padded[start..<start + 64], to: &state)
        }
        return state.flatMap(bytes)
    }

    /// A one bit, zeros, and the length in bits, so that whole blocks come out (5.1.1).
    private static func pad(_ message: [UInt8]) -> [UInt8] {
        let zeros = (119 - message.count % 64) % 64
        let bits = UInt64(truncatingIfNeeded: message.count) &* 8
        return message + [0x80] + [UInt8](repeating: 0, count: zeros)
            + bytes(UInt32(truncatingIfNeeded: bits >> 32)) + bytes(UInt32(truncatingIfNeeded: bits))
    }

    /// Works one block of 64 bytes in (6.1.2).
    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var words: [UInt32] = []
        for place in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            words.append(block[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for index in 16..<80 {
            words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (function, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: ((b & c) ^ (~b & d), 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: ((b & c) ^ (b & d) ^ (c & d), 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotate(a, by: 5) &+ function &+ e &+ constant &+ word
            (a, b, c, d, e) = (next, a, rotate(b, by: 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }

    private static func bytes(_ word: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
}
