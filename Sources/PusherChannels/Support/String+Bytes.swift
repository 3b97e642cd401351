#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Comparisons of texts by their UTF-8 bytes, as in a protocol. `==` and `hasPrefix` follow Unicode: to them, a colon with an
/// accent after it is another character, and comparing a run of combining marks takes quadratic time.
extension String {
    /// Returns whether the text has these bytes.
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard utf8.count == bytes.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { bytes.isSame(as: UnsafeRawBufferPointer($0)) }
        return isSame ?? utf8.elementsEqual(bytes)
    }

    /// Returns whether another text has the same bytes.
    @inline(__always)
    package func hasBytes(of other: String) -> Bool {
        isStored(as: other) || hasEqualBytes(to: other)
    }

    private func hasEqualBytes(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return other.utf8.withContiguousStorageIfAvailable { hasBytes(UnsafeRawBufferPointer($0)) }
            ?? utf8.elementsEqual(other.utf8)
    }

    /// Returns whether both are short and have the same bytes, or are one and the same. Most equal names are.
    @inline(__always)
    private func isStored(as other: String) -> Bool {
        withUnsafeBytes(of: self) { left in withUnsafeBytes(of: other) { left.isSame(as: $0) } }
    }

    /// Returns whether the text begins with the bytes of another one.
    package func begins(with prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { utf8.starts(with: $0) }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns whether both hold the same bytes.
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let left = baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// Returns whether these are the bytes of a text.
    @inline(__always)
    func isSame(as text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && begins(with: text)
    }

    /// Returns whether they contain the bytes of a text.
    func contains(_ text: StaticString) -> Bool {
        indices.contains { UnsafeRawBufferPointer(rebasing: self[$0...]).begins(with: text) }
    }

    /// Returns whether they begin with the bytes of a text. Where the text is a literal, words are compared.
    @inline(__always)
    func begins(with text: StaticString) -> Bool {
        guard let start = baseAddress, count >= text.utf8CodeUnitCount else { return text.utf8CodeUnitCount == 0 }
        return memcmp(start, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}

/// Comparisons as protocols define them. Swift's `==` and `lowercased()` follow Unicode: to them, the Kelvin sign is a K.
extension String {
    /// Returns whether both are the same, ignoring the case of ASCII letters.
    package func isSameWord(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { inLowerCase($0) == inLowerCase($1) }
    }
}

private func inLowerCase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
