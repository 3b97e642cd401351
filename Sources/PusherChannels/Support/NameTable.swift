/// Gives the name that bytes stand for: the one that was made for them before, if it is remembered.
///
/// A client gets the same few names again and again; each would be an allocation and a copy. The table is a cache, so a server that
/// sends ever new names makes it neither large nor slow: each place remembers the last name that belongs there.
struct NameTable: Sendable {
    /// Longer names aren't remembered: those of servers have at most 200 bytes.
    private static let longestName = 256
    /// The table grows while names displace each other, to this at most.
    private static let mostPlaces = 1 << 14

    private var places: [Name?] = Array(repeating: nil, count: 16)
    private var displaced = 0

    /// The name of UTF-8 bytes.
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

    /// Each name has one place. A hash that nobody can aim at takes 130 instructions more, and would keep a server from no more than having
    /// its own names made anew.
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
