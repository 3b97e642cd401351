/// A cache of names, found by their bytes.
///
/// A client gets the same few names again and again, and each would cost an allocation and a copy. As this is a cache, a server
/// that keeps sending new names makes it neither large nor slow: each place remembers the last name that belongs there.
struct NameTable: Sendable {
    /// The longest name that is remembered, in bytes; those of servers have at most 200 characters.
    private static let longestName = 256
    /// The largest number of places, up to which the table grows while names displace each other.
    private static let mostPlaces = 1 << 14

    /// A name that is remembered, and what of its bytes is compared first.
    private struct Entry {
        let name: Name
        let ends: Ends
    }

    /// The first and the last bytes of a name, up to eight each: of most names, all of them.
    private struct Ends: Equatable {
        let count: Int
        let first: UInt64
        let last: UInt64

        init(_ bytes: UnsafeRawBufferPointer) {
            count = bytes.count
            if count >= 8 {
                first = bytes.loadUnaligned(as: UInt64.self)
                last = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            } else if count >= 4 {
                first = UInt64(bytes.loadUnaligned(as: UInt32.self))
                last = UInt64(bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            } else {
                first = 0
                last = bytes.reduce(0) { $0 << 8 | UInt64($1) }
            }
        }

        var areAll: Bool { count <= 16 }
    }

    private var places: [Entry?] = Array(repeating: nil, count: 16)
    private var displaced = 0

    /// Returns the name of UTF-8 bytes, which is the one made before if it is remembered.
    mutating func name(_ bytes: UnsafeRawBufferPointer) -> Name {
        let ends = Ends(bytes)
        let place = place(of: bytes, ends)
        if let known = places[place], known.ends == ends, ends.areAll || known.name.text.hasBytes(bytes) { return known.name }
        return make(bytes, ends)
    }

    @inline(never)
    private mutating func make(_ bytes: UnsafeRawBufferPointer, _ ends: Ends) -> Name {
        let name = Name(utf8: bytes, digest: Name.digest(of: bytes))
        guard bytes.count <= Self.longestName else { return name }
        if places[place(of: bytes, ends)] != nil { displaced += 1 }
        if displaced > places.count, places.count < Self.mostPlaces { grow() }
        places[self.place(of: bytes, ends)] = Entry(name: name, ends: ends)
        return name
    }

    var capacity: Int { places.count }

    func remembers(_ name: Name) -> Bool { places[place(of: name)]?.name == name }

    /// Returns the only place of a name. A hash that is safe against chosen collisions would take 130 instructions more, and
    /// would only keep a server from having its own names made again.
    @inline(__always)
    private func place(of bytes: UnsafeRawBufferPointer, _ ends: Ends) -> Int {
        let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
        var hash = (ends.first ^ UInt64(truncatingIfNeeded: ends.count)) &* factor
        var offset = 8
        while offset + 8 < ends.count {
            hash = (hash ^ hash >> 32 ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* factor
            offset += 8  // not a mutant: any other bytes spread names, too
        }
        hash = (hash ^ hash >> 32 ^ ends.last) &* factor
        // A factor spreads upward only, so the highest bits depend on all bytes.
        return Int(truncatingIfNeeded: hash >> UInt64(64 - places.count.trailingZeroBitCount))
    }

    private func place(of name: Name) -> Int {
        var text = name.text
        return text.withUTF8 { place(of: UnsafeRawBufferPointer($0), Ends(UnsafeRawBufferPointer($0))) }
    }

    private mutating func grow() {
        let known = places
        places = Array(repeating: nil, count: 4 * known.count)
        displaced = 0
        for case let entry? in known { places[place(of: entry.name)] = entry }
    }
}
