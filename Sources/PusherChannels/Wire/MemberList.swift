/// Members of a presence channel, in the order in which they were first named, found by their ids.
///
/// A server names as many as it likes at once. To look each up in a dictionary would take several times what its name costs to read,
/// most of it waiting for memory: here the members lie one after the other, and one small table is all that is looked at beside.
struct MemberList: Sendable {
    private var places: [PresenceMember] = []
    /// The places of members who left.
    private var left: Set<Int> = []
    private var table = PlaceTable()
    /// The bytes of its members' ids and descriptions.
    private(set) var bytes = 0

    init(_ members: [PresenceMember] = []) {
        for member in members { update(member) }
    }

    var count: Int { places.count - left.count }

    /// The number of places, those of members who left among them.
    var capacity: Int { places.count }

    /// The members, in order.
    var members: [PresenceMember] {
        left.isEmpty ? places : places.indices.filter { !left.contains($0) }.map { places[$0] }
    }

    subscript(userID: Name) -> PresenceMember? {
        find(userID).place.map { places[$0] }
    }

    private func find(_ userID: Name) -> (slot: Int, place: Int?) {
        table.find(userID.digest) { places[$0].userID == userID }
    }

    // MARK: Changing

    /// Adds a member of whom nothing more is known, unless it is there.
    mutating func insert(_ userID: Name) {
        let (slot, place) = find(userID)
        if place == nil { append(PresenceMember(userID: userID, info: nil), at: slot) }
    }

    /// Inserts an id of UTF-8 bytes: no text is made of one that is there.
    mutating func insert(_ userID: UnsafeRawBufferPointer, digest: Int) {
        let (slot, place) = table.find(digest) { places[$0].userID.isMade(of: userID, digest: digest) }
        if place == nil { append(PresenceMember(userID: Name(utf8: userID, digest: digest), info: nil), at: slot) }
    }

    /// Adds a member, or takes over the newer description of one; whether it is a new one.
    @discardableResult
    mutating func update(_ member: PresenceMember) -> Bool {
        let (slot, place) = find(member.userID)
        if let place {
            bytes += member.size - places[place].size
            places[place] = member
        } else {
            append(member, at: slot)
        }
        return place == nil
    }

    private mutating func append(_ member: PresenceMember, at slot: Int) {
        table.occupy(slot, place: places.count, digest: member.userID.digest)
        places.append(member)
        bytes += member.size
    }

    mutating func remove(_ userID: Name) -> PresenceMember? {
        let (slot, place) = find(userID)
        guard let place else { return nil }
        let member = places[place]
        table.free(slot)
        bytes -= member.size
        places[place] = PresenceMember(userID: userID, info: nil)
        left.insert(place)
        // Else those who come and go would leave their places behind.
        if places.count > 16, places.count > 2 * count { self = MemberList(members) }
        return member
    }
}

extension MemberList: Equatable {
    static func == (left: MemberList, right: MemberList) -> Bool {
        left.count == right.count && left.members == right.members
    }
}
