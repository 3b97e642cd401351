/// Comparisons as protocols mean them. Swift's `==` and `lowercased()` know Unicode: to them the Kelvin sign is a K.
extension String {
    /// Returns whether both are the same bytes.
    func isExactly(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    /// Returns whether both are the same but for the case of ASCII letters.
    func isSameWord(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { inLowerCase($0) == inLowerCase($1) }
    }
}

private func inLowerCase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
