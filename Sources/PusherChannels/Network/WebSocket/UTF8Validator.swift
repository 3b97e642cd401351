/// Checks that bytes are UTF-8 (RFC 3629) as they come, wherever they are split.
struct UTF8Validator {
    /// The number of continuation bytes that the current character still needs.
    private var missing = 0
    /// The range of the next continuation byte. After some first bytes it is smaller than 80…BF, to rule out overlong characters,
    /// halves of surrogate pairs, and values beyond Unicode.
    private var allowed: ClosedRange<UInt8> = anyContinuation

    private static let anyContinuation: ClosedRange<UInt8> = 0x80...0xBF

    /// Indicates whether the bytes so far end with a whole character.
    var isComplete: Bool { missing == 0 }

    /// Returns whether all of the bytes are text.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var validator = UTF8Validator()
        return validator.accept(bytes) && validator.isComplete
    }

    /// Takes the next bytes; returns `false` if no text can continue like this.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while true {
            if missing == 0 {
                position = endOfASCII(in: bytes, from: position)
                position = endOfCommonCharacters(in: bytes, from: position)
            }
            guard position < bytes.count else { return true }
            guard missing == 0 ? begin(bytes[position]) : goOn(bytes[position]) else { return false }
            position += 1
        }
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case ..<0x80: (missing, allowed) = (0, Self.anyContinuation)
        case 0xC2...0xDF: (missing, allowed) = (1, Self.anyContinuation)
        case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
        case 0xED: (missing, allowed) = (2, 0x80...0x9F)
        case 0xE1...0xEF: (missing, allowed) = (2, Self.anyContinuation)
        case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
        case 0xF1...0xF3: (missing, allowed) = (3, Self.anyContinuation)
        case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }

    private mutating func goOn(_ byte: UInt8) -> Bool {
        guard allowed.contains(byte) else { return false }
        allowed = Self.anyContinuation
        missing -= 1
        return true
    }
}

/// Returns the position of the first byte beyond ASCII, or the end. Nearly all data is ASCII, so it takes large steps.
private func endOfASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let highs: UInt64 = 0x8080_8080_8080_8080
    var position = start
    while position + 32 <= bytes.count {
        let found =
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            | bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self)
            | bytes.loadUnaligned(fromByteOffset: position + 16, as: UInt64.self)
            | bytes.loadUnaligned(fromByteOffset: position + 24, as: UInt64.self)
        guard found & highs == 0 else { break }
        position += 32
    }
    while position + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        guard word & highs == 0 else { return position + (word & highs).trailingZeroBitCount / 8 }
        position += 8
    }
    while position < bytes.count, bytes[position] < 0x80 { position += 1 }
    return position
}

/// Returns the end of the characters of two or three bytes, which most scripts use; rare and invalid ones are left to the caller.
private func endOfCommonCharacters(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var position = start
    while position + 3 <= bytes.count {
        let (first, second, third) = (bytes[position], bytes[position + 1], bytes[position + 2])
        guard second & 0xC0 == 0x80 else { break }
        if first & 0xE0 == 0xC0, first >= 0xC2 {
            position += 2
        } else if first & 0xF0 == 0xE0, first != 0xE0, first != 0xED, third & 0xC0 == 0x80 {
            position += 3
        } else {
            break
        }
    }
    return position
}
