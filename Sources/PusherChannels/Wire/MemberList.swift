/// The members of a presence channel, in the order in which they were first named. They are found by their IDs.
///
/// A server may name any number of members at once. Looking each up in a dictionary would cost several times as much as reading
/// its name, most of it spent waiting for memory. Here the members are contiguous, and a look-up needs only one small table
/// besides.
struct MemberList: Sendable {
    private var places: [PresenceMember] = []
    /// The places of members who left.
    private var left: Set<Int> = []
    private var table = PlaceTable()
    /// The number of bytes of the members' IDs and descriptions.
    private(set) var bytes = 0

    init(_ members: [PresenceMember] = []) {
        for member in members { update(member) }
    }

    var count: Int { places.count - left.count }

    /// The number of places, including those of members who left.
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

    /// Adds a member without a description, unless the member is there already.
    mutating func insert(_ userID: Name) {
        let (slot, place) = find(userID)
        if place == nil { append(PresenceMember(userID: userID, info: nil), at: slot) }
    }

    /// Adds a member by the UTF-8 bytes of its ID. No text is made if the member is there already.
    mutating func insert(_ userID: UnsafeRawBufferPointer, digest: Int) {
        let (slot, place) = table.find(digest) { places[$0].userID.isMade(of: userID, digest: digest) }
        if place == nil { append(PresenceMember(userID: Name(utf8: userID, digest: digest), info: nil), at: slot) }
    }

    /// Adds a member, or updates its description; returns whether the member is new.
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
        // Otherwise, members who come and go would leave their places behind.
        if places.count > 16, places.count > 2 * count { self = MemberList(members) }
        return member
    }
}

extension MemberList: Equatable {
    static func == (left: MemberList, right: MemberList) -> Bool {
        left.count == right.count && left.members == right.members
    }
}
