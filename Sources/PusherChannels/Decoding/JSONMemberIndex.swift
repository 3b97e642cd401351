/// Where the members of a large object are.
final class JSONMemberIndex {
    private struct Slot {
        var hash: UInt32
        /// Which key of the list it is, counted from 1; 0 where there is none.
        var place: UInt32
    }

    /// The tokens of the keys, in the order of the text, of several with one name the first.
    @exclusivity(unchecked)
    private(set) var keys: [Int] = []
    @exclusivity(unchecked)
    private var slots: [Slot]
    /// Behind the key that was asked for last: mostly they are asked for in the order of the text.
    @exclusivity(unchecked)
    private var cursor = 0

    init(of object: Int, in document: JSONDocument) {
        let count = document.tokens[object].count
        // A power of two, at most half of it used.
        let size = 4 << (Int.bitWidth - count.leadingZeroBitCount)
        slots = Array(repeating: Slot(hash: 0, place: 0), count: size / 2)
        keys.reserveCapacity(count)
        var key = object + 1
        for _ in 0..<count {
            document.withBytes(of: document.tokens[key]) { insert(key, named: $0, in: document) }
            key = document.following(key + 1)
        }
    }

    func key(named name: UnsafeRawBufferPointer, in document: JSONDocument) -> Int? {
        if cursor < keys.count, document.isString(document.tokens[keys[cursor]], name) {
            cursor += 1
            return keys[cursor - 1]
        }
        let slot = slots[slot(of: name, hash: Self.hash(name), in: document)]
        guard slot.place > 0 else { return nil }
        cursor = Int(slot.place)
        return keys[cursor - 1]
    }

    private func insert(_ key: Int, named name: UnsafeRawBufferPointer, in document: JSONDocument) {
        let hash = Self.hash(name)
        let slot = slot(of: name, hash: hash, in: document)
        guard slots[slot].place == 0 else { return }
        keys.append(key)
        slots[slot] = Slot(hash: hash, place: UInt32(truncatingIfNeeded: keys.count))
    }

    /// Where a name is, or where it would be.
    private func slot(of name: UnsafeRawBufferPointer, hash: UInt32, in document: JSONDocument) -> Int {
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot].place > 0 {
            if slots[slot].hash == hash {
                let key = keys[Int(slots[slot].place) - 1]
                if document.isString(document.tokens[key], name) { return slot }
            }
            slot = (slot + 1) & mask
        }
        return slot
    }

    /// Seeded by Swift, so that nobody can make up names which all hash alike.
    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
