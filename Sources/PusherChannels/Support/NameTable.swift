/// A cache of names, found by their bytes.
///
/// A client gets the same few names again and again, and each would cost an allocation and a copy. As this is a cache, a server
/// that keeps sending new names makes it neither large nor slow: each place remembers the last name that belongs there.
struct NameTable: Sendable {
    /// The longest name that is remembered; those of servers have at most 200 bytes.
    private static let longestName = 256
    /// The largest number of places, up to which the table grows while names displace each other.
    private static let mostPlaces = 1 << 14

    private var places: [Name?] = Array(repeating: nil, count: 16)
    private var displaced = 0

    /// Returns the name of UTF-8 bytes, which is the one made before if it is remembered.
    mutating func name(_ bytes: UnsafeRawBufferPointer) -> Name {
        guard bytes.count <= Self.longestName else { return Name(utf8: bytes, digest: Name.digest(of: bytes)) }
        let place = place(of: bytes)
        if let known = places[place] {
            if known.text.hasBytes(bytes) { return known }
            displaced += 1
        }
        let name = Name(utf8: bytes, digest: Name.digest(of: bytes))
        if displaced > places.count, places.count < Self.mostPlaces { grow() }
        places[self.place(of: bytes)] = name
        return name
    }

    var capacity: Int { places.count }

    func remembers(_ name: Name) -> Bool { places[place(of: name)] == name }

    /// Returns the only place of a name. A hash that is safe against chosen collisions would take 130 instructions more, and
    /// would only keep a server from having its own names made again.
    private func place(of bytes: UnsafeRawBufferPointer) -> Int {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        var hash = UInt64(truncatingIfNeeded: bytes.count)
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* factor
            hash ^= hash >> 32
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        hash = (hash ^ rest) &* factor
        return Int(truncatingIfNeeded: hash >> 32) & (places.count - 1)
    }

    private func place(of name: Name) -> Int {
        var text = name.text
        return text.withUTF8 { place(of: UnsafeRawBufferPointer($0)) }
    }

    private mutating func grow() {
        let known = places
        places = Array(repeating: nil, count: 4 * known.count)
        displaced = 0
        for case let name? in known { places[place(of: name)] = name }
    }
}
