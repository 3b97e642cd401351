import PusherChannels

/// A channel that has subscribers.
struct ServerChannel {
    struct Member {
        /// The id as others are told it.
        let value: JSONValue
        let info: JSONValue?
        /// The number of the user's connections. A user with several connections is a member only once.
        var connections: Int
    }

    /// The subscribers, sorted by their numbers so that an event reaches them in the same order every time.
    private(set) var subscribers: [ServerMachine.ConnectionID] = []
    private(set) var members: [Name: Member] = [:]
    /// The members' ids in the order in which they joined.
    private(set) var memberIDs: [Name] = []

    mutating func add(_ id: ServerMachine.ConnectionID) {
        subscribers.insert(id, at: position(of: id))
    }

    mutating func remove(_ id: ServerMachine.ConnectionID) {
        let position = position(of: id)
        guard position < subscribers.count, subscribers[position] == id else { return }
        subscribers.remove(at: position)
    }

    /// Counts a user's connection, and returns whether it is the user's first.
    mutating func join(_ userID: Name, as value: JSONValue, info: JSONValue?) -> Bool {
        if members[userID] != nil {
            members[userID]?.connections += 1
            return false
        }
        members[userID] = Member(value: value, info: info, connections: 1)
        memberIDs.append(userID)
        return true
    }

    /// Forgets a user's connection, and returns whether it was the user's last.
    mutating func leave(_ userID: Name) -> Bool {
        guard let count = members[userID]?.connections else { return false }
        guard count == 1 else {
            members[userID]?.connections = count - 1
            return false
        }
        members[userID] = nil
        memberIDs.removeAll { $0 == userID }
        return true
    }

    var hasMemberWithoutInfo: Bool { members.values.contains { $0.info == nil } }

    /// The members as `subscription_succeeded` lists them.
    func presence(_ profile: ServerProfile) -> JSONValue {
        let hash: JSONValue =
            profile.sendsEmptyHashAsArray && members.isEmpty
            ? [] : .object(members.compactMapValues { $0.info ?? profile.missingInfo.listed.value })
        let count = profile.memberChanges == .ofConnections ? members.values.reduce(0) { $0 + $1.connections } : memberIDs.count
        var list: [Name: JSONValue] = ["hash": hash, "count": .integer(count)]
        if profile.listsMemberIDs { list["ids"] = .array(listedIDs(profile)) }
        return .object(list)
    }

    /// The members' ids in the order in which they joined, once for each connection if each counts.
    func listedIDs(_ profile: ServerProfile) -> [JSONValue] {
        memberIDs.flatMap { id -> [JSONValue] in
            guard let member = members[id] else { return [] }
            return Array(repeating: member.value, count: profile.memberChanges == .ofConnections ? member.connections : 1)
        }
    }

    private func position(of id: ServerMachine.ConnectionID) -> Int {
        var low = 0
        var high = subscribers.count
        while low < high {
            let middle = (low + high) / 2
            if subscribers[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
