/// The members of an object, found by the bytes of their names.
///
/// If several members have the same name, the first one counts, as with Foundation. Unlike with Foundation, two normal forms of a
/// name are two names: comparing Swift strings costs more with each combining mark, and a peer can send any number of them.
struct JSONMembers {
    /// The number of members from which on a table is used to look them up.
    private static let many = 17

    let document: JSONDocument
    private let object: Int
    private let index: JSONMemberIndex?

    init(of object: Int, in document: JSONDocument) throws(JSONError) {
        let token = document.tokens[object]
        guard !token.isBroken else { throw document.problem("a bad name among an object's members", with: token) }
        self.document = document
        self.object = object
        index = token.count < Self.many ? nil : JSONMemberIndex(of: object, in: document)
    }

    /// Returns the value of the member with a name.
    func value(named name: String) -> Int? {
        var name = name
        return name.withUTF8 { value(named: UnsafeRawBufferPointer($0)) }
    }

    private func value(named name: UnsafeRawBufferPointer) -> Int? {
        if let index { return index.key(named: name, in: document).map { $0 + 1 } }
        let tokens = document.tokens
        let hasEscapes = tokens[object].hasEscapes
        var key = object + 1
        for _ in 0..<tokens[object].count {
            let token = tokens[key]
            if hasEscapes ? document.isString(token, name) : areEqual(document.text(of: token), name) { return key + 1 }
            key = document.following(key + 1)
        }
        return nil
    }

    /// The names in the order of the text, each of them once.
    var names: [String] {
        get throws(JSONError) {
            var names: [String] = []
            for key in keys {
                names.append(try document.string(document.tokens[key]))
            }
            return names
        }
    }

    private var keys: [Int] {
        if let index { return index.keys }
        var keys: [Int] = []
        var key = object + 1
        for _ in 0..<document.tokens[object].count {
            let isFirst = document.withBytes(of: document.tokens[key]) { value(named: $0) == key + 1 }
            if isFirst { keys.append(key) }
            key = document.following(key + 1)
        }
        return keys
    }
}

/// A hash table of the members of a large object.
final class JSONMemberIndex {
    private struct Slot {
        var hash: UInt32
        /// The position of the key in the list, counted from 1; 0 if there is no key.
        var place: UInt32
    }

    /// The tokens of the keys, in the order of the text. If several keys have the same name, only the first is listed.
    @exclusivity(unchecked)
    private(set) var keys: [Int] = []
    @exclusivity(unchecked)
    private var slots: [Slot]
    /// The position after the key that was looked up last, as keys are mostly looked up in the order of the text.
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

    /// Returns the slot that has the name, or would have it.
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

    /// Returns the hash of a name. Swift seeds it, so nobody can make up names that all have the same hash.
    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
