/// The members of a presence channel.
struct PresenceRoster: Equatable, Sendable {
    struct Changes: Equatable {
        var joined: [PresenceMember] = []
        var left: [PresenceMember] = []
    }

    /// The largest number of bytes that the members may take: a server that keeps naming members must not fill the memory.
    static let byteLimit = 64 << 20
    /// The approximate number of bytes that a member takes in addition to its ID and description.
    private static let ownSize = 100

    private var list = MemberList()

    var count: Int { list.count }

    subscript(userID: Name) -> PresenceMember? { list[userID] }

    /// The members in the order in which they were first seen.
    var members: [PresenceMember] { list.members }

    /// Returns whether there is room for one more.
    func admits(_ member: PresenceMember) -> Bool {
        list.bytes + member.size + (list.count + 1) * Self.ownSize <= Self.byteLimit
    }

    /// Adds a member, or updates its description; returns whether the member is new.
    @discardableResult
    mutating func add(_ member: PresenceMember) -> Bool {
        list.update(member)
    }

    mutating func remove(userID: Name) -> PresenceMember? {
        list.remove(userID)
    }

    /// Replaces the known members with the server's list.
    mutating func replace(with snapshot: PresenceSnapshot) {
        list = snapshot.list
    }

    /// Returns the difference from an earlier roster.
    func changes(since earlier: PresenceRoster) -> Changes {
        Changes(
            joined: members.filter { earlier[$0.userID] == nil }, left: earlier.members.filter { self[$0.userID] == nil })
    }
}
