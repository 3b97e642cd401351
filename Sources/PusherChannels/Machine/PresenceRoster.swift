/// Who is in a presence channel.
struct PresenceRoster: Equatable, Sendable {
    struct Changes: Equatable {
        var joined: [PresenceMember] = []
        var left: [PresenceMember] = []
    }

    private struct Entry: Equatable {
        let ordinal: Int
        let member: PresenceMember
    }

    private var entries: [Name: Entry] = [:]
    private var nextOrdinal = 0

    var count: Int { entries.count }

    subscript(userID: Name) -> PresenceMember? {
        entries[userID]?.member
    }

    /// In the order in which they were first seen.
    var members: [PresenceMember] {
        entries.values.sorted { $0.ordinal < $1.ordinal }.map(\.member)
    }

    /// Adds a member, or takes over the newer description of one; tells whether it is a new one.
    @discardableResult
    mutating func add(_ member: PresenceMember) -> Bool {
        let known = entries[member.userID]
        entries[member.userID] = Entry(ordinal: known?.ordinal ?? nextOrdinal, member: member)
        if known == nil { nextOrdinal += 1 }
        return known == nil
    }

    mutating func remove(userID: Name) -> PresenceMember? {
        entries.removeValue(forKey: userID)?.member
    }

    /// Takes the server's list instead of what was known, and tells the difference.
    mutating func replace(with snapshot: PresenceSnapshot) -> Changes {
        let before = self
        self = PresenceRoster()
        for member in snapshot.members { add(member) }
        return Changes(
            joined: members.filter { before[$0.userID] == nil },
            left: before.members.filter { self[$0.userID] == nil })
    }
}
