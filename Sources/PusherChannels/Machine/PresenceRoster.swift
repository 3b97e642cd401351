/// The members of a presence channel.
struct PresenceRoster: Equatable, Sendable {
    struct Changes: Equatable {
        var joined: [PresenceMember] = []
        var left: [PresenceMember] = []
    }

    /// The most bytes that the members may take: a server that names ever more must not fill the memory.
    static let byteLimit = 64 << 20
    /// The approximate number of bytes that a member takes beside its id and description.
    private static let ownSize = 100

    private var list = MemberList()

    var count: Int { list.count }

    subscript(userID: Name) -> PresenceMember? { list[userID] }

    /// In the order in which they were first seen.
    var members: [PresenceMember] { list.members }

    /// Returns whether there is room for one more.
    func admits(_ member: PresenceMember) -> Bool {
        list.bytes + member.size + (list.count + 1) * Self.ownSize <= Self.byteLimit
    }

    /// Adds a member, or takes over the newer description of one; tells whether it is a new one.
    @discardableResult
    mutating func add(_ member: PresenceMember) -> Bool {
        list.update(member)
    }

    mutating func remove(userID: Name) -> PresenceMember? {
        list.remove(userID)
    }

    /// Takes the server's list instead of what was known.
    mutating func replace(with snapshot: PresenceSnapshot) {
        list = snapshot.list
    }

    /// Returns the difference from an earlier roster.
    func changes(since earlier: PresenceRoster) -> Changes {
        Changes(
            joined: members.filter { earlier[$0.userID] == nil }, left: earlier.members.filter { self[$0.userID] == nil })
    }
}
