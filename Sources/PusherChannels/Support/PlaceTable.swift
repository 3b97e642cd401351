/// A table that finds places in a list by the digests of the elements there.
///
/// A slot has eight bytes, half of them from the digest, so hardly any element but the wanted one is compared. The first bits of
/// a digest determine its slot, so a growing table is filled from its beginning to its end.
struct PlaceTable: Sendable {
    /// The slots. The first half is from the digest; the second is the place, counted from 1. A slot of 0 is free.
    private var slots: [UInt64] = Array(repeating: 0, count: 16)
    private var used = 0
    /// The number of the digest's bits that determine its slot.
    private var bits = 4

    private func home(of slot: UInt64) -> Int { Int(truncatingIfNeeded: slot >> UInt64(64 - bits)) }

    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    private static func key(_ digest: Int) -> UInt64 { UInt64(UInt(bitPattern: digest)) & 0xFFFF_FFFF_0000_0000 }

    /// Returns the place of the element with this digest that `isWanted`, and its slot; or the slot for it if there is none.
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

    /// Frees a slot. Later slots that would not be found anymore move up.
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
