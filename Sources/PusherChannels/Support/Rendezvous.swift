/// Rendezvous hashing (Thaler, Ravishankar 1998): each name ranks numbered holders by a hash of both and belongs to the first.
/// One more holder thus takes its share from all others, and nothing else moves.
///
/// The ranks must never change: processes of a fleet that run different versions have to share the names in the same way.
struct Rendezvous: Sendable {
    /// The value that distinguishes one use from another: if the names of one holder are placed again, they are spread anew.
    private let salt: UInt64

    init(salt: UInt64) {
        self.salt = salt
    }

    /// Returns the holder that a name ranks highest; nil if there are none.
    func holder(of name: String, among holders: some Sequence<Int>) -> Int? {
        let digest = Self.digest(of: name)
        var best: (holder: Int, rank: UInt64)?
        for holder in holders {
            let rank = Self.mixed(digest ^ Self.mixed(salt &+ UInt64(truncatingIfNeeded: holder)))
            if rank > best?.rank ?? 0 || best == nil { best = (holder, rank) }
        }
        return best?.holder
    }

    /// Returns the FNV-1a hash of a name.
    private static func digest(of name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var generator = SplitMix64(seed: value)
        return generator.next()
    }
}
