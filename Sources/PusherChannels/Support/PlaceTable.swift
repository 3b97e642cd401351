/// Finds places in a list by the digests of what lies there.
///
/// A slot is eight bytes, half of them of the digest, so that hardly ever anything but the one that is looked for is compared. Where a
/// digest belongs its first bits say: a table that grows is filled from its beginning to its end.
struct PlaceTable: Sendable {
    /// The first half is of the digest, the second the place, counted from 1 on; 0 is a slot that is free.
    private var slots: [UInt64] = Array(repeating: 0, count: 16)
    private var used = 0
    /// The number of the digest's bits that say where it belongs.
    private var bits = 4

    private func home(of slot: UInt64) -> Int { Int(truncatingIfNeeded: slot >> UInt64(64 - bits)) }

    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    private static func key(_ digest: Int) -> UInt64 { UInt64(UInt(bitPattern: digest)) & 0xFFFF_FFFF_0000_0000 }

    /// The place where something with this digest lies that `isWanted`, and its slot; or the slot for it.
    func find(_ digest: Int, _ isWanted: (Int) -> Bool) -> (slot: Int, place: Int?) {
        let key = Self.key(digest)
        var slot = home(of: key)
        while slots[slot] != 0 {
            if slots[slot] & 0xFFFF_FFFF_0000_0000 == key {
                let place = Int(slots[slot] & 0xFFFF_FFFF) - 1
                if isWanted(place) { return (slot, place) }
            }
            slot = next(slot)
        }
        return (slot, nil)
    }

    /// Notes a place in the slot that ``find(_:_:)`` found for it.
    mutating func occupy(_ slot: Int, place: Int, digest: Int) {
        slots[slot] = Self.key(digest) | UInt64(truncatingIfNeeded: place + 1)
        used += 1
        if 4 * used > 3 * slots.count { grow() }
    }

    private mutating func grow() {
        let known = slots
        slots = Array(repeating: 0, count: 2 * known.count)
        bits += 1
        for entry in known where entry != 0 {
            var slot = home(of: entry)
            while slots[slot] != 0 { slot = next(slot) }
            slots[slot] = entry
        }
    }

    /// Forgets a place. Those behind it that would not be found any more move up.
    mutating func free(_ freed: Int) {
        var (hole, slot) = (freed, next(freed))
        while slots[slot] != 0 {
            let mask = slots.count - 1
            if (slot - home(of: slots[slot])) & mask >= (slot - hole) & mask {
                slots[hole] = slots[slot]
                hole = slot
            }
            slot = next(slot)
        }
        slots[hole] = 0
        used -= 1
    }
}
