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
        let digest = Name.digest(of: bytes)
        let place = digest & (places.count - 1)
        if let known = places[place] {
            if known.isMade(of: bytes, digest: digest) { return known }
            displaced += 1
        }
        let name = Name(utf8: bytes, digest: digest)
        guard bytes.count <= Self.longestName else { return name }
        if displaced > places.count, places.count < Self.mostPlaces { grow() }
        places[digest & (places.count - 1)] = name
        return name
    }

    var capacity: Int { places.count }

    func remembers(_ name: Name) -> Bool { places[name.digest & (places.count - 1)] == name }

    private mutating func grow() {
        let known = places
        places = Array(repeating: nil, count: 4 * known.count)
        displaced = 0
        for case let name? in known { places[name.digest & (places.count - 1)] = name }
    }
}
