/// A text of the protocol that is used for look-ups: a channel, an event, a member, the key of a JSON object.
///
/// Names are compared and hashed by their UTF-8 bytes, as in every server and every other client. Swift compares `String`s by
/// their Unicode normal form: two names that a server distinguishes would be one, and comparing a run of combining marks takes
/// quadratic time. So nothing that a server sends is a key, or compared, as a `String`.
package struct Name: Hashable, Comparable, Sendable {
    /// The name as a text.
    package let text: String
    /// The hash of its bytes, which is computed once. It is seeded anew in each process, so nobody can construct collisions.
    let digest: Int

    /// Creates a name from a text.
    package init(_ text: String) {
        var text = text
        digest = text.withUTF8 { Self.digest(of: UnsafeRawBufferPointer($0)) }
        self.text = text
    }

    /// Creates a name from UTF-8 bytes whose digest is known.
    init(utf8 bytes: UnsafeRawBufferPointer, digest: Int) {
        text = String(decoding: bytes, as: UTF8.self)
        self.digest = digest
    }

    /// Returns the hash of a name with these bytes.
    static func digest(of bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }

    /// Returns whether these are the bytes of the name.
    func isMade(of bytes: UnsafeRawBufferPointer, digest: Int) -> Bool {
        self.digest == digest && text.hasBytes(bytes)
    }

    /// Returns whether the bytes of both are the same.
    package static func == (left: Name, right: Name) -> Bool {
        left.digest == right.digest && left.text.hasBytes(of: right.text)
    }

    /// Returns whether the left name comes first in the order of the bytes.
    package static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {  // not a mutant: without it, look-ups are only slower
        hasher.combine(digest)
    }

    /// Returns the hash that a table asks for. A digest is a hash already, so hashing it again would take half of a look-up. The
    /// seed is mixed in because tables copy slowly into others that have the same order.
    package func _rawHashValue(seed: Int) -> Int {
        let mixed = UInt(bitPattern: digest ^ seed) &* 0x9E37_79B9_7F4A_7C15
        return Int(bitPattern: mixed ^ mixed >> 32)
    }

    /// Returns whether the name begins with these bytes.
    package func begins(with prefix: StaticString) -> Bool {
        text.begins(with: prefix)
    }

    /// Returns whether the name is this text.
    package func equals(_ text: StaticString) -> Bool {
        self.text.utf8.count == text.utf8CodeUnitCount && self.text.begins(with: text)
    }
}

extension Name: ExpressibleByStringInterpolation, CustomStringConvertible {
    package init(stringLiteral value: String) { self.init(value) }

    package var description: String { text }
}

extension Dictionary where Key == Name {
    /// The value for a key given as a text.
    package subscript(text: String) -> Value? {
        get { self[Name(text)] }
        set { self[Name(text)] = newValue }
    }
}
