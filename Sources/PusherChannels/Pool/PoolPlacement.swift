/// The places of a pool's channels on its connections: a value that makes decisions, but doesn't carry them out.
struct PoolPlacement {
    /// A channel that moves from one connection to another.
    struct Move: Equatable {
        let channel: Name
        let from: Int
        let to: Int
    }

    /// The maximum number of channels per connection.
    let limit: Int
    /// The number of channels on each connection.
    private(set) var loads: [Int]
    private var places: [Name: Int] = [:]
    private let ranks = Rendezvous(salt: 0x0063_6F6E_6E65_6374)

    init(connections: Int, limit: Int) {
        // Far enough below the maximum that arithmetic with it can't overflow.
        self.limit = min(max(limit, 1), .max / 4)
        loads = Array(repeating: 0, count: max(connections, 1))
    }

    func place(of channel: Name) -> Int? { places[channel] }

    /// Places channels that have no place yet, and adds connections if the others are full.
    ///
    /// - Returns: The newly placed channels and their connections, in the given order.
    mutating func add(_ channels: [Name]) -> [(channel: Name, connection: Int)] {
        var known: Set<Name> = []
        let new = channels.filter { places[$0] == nil && known.insert($0).inserted }
        let needed = (places.count + new.count + limit - 1) / limit
        while loads.count < needed { loads.append(0) }
        return new.compactMap { channel in
            guard let connection = bestWithRoom(for: channel) else { return nil }
            put(channel, on: connection)
            return (channel, connection)
        }
    }

    /// Removes a channel, and returns the connection that it was on.
    mutating func remove(_ channel: Name) -> Int? {
        guard let connection = places.removeValue(forKey: channel) else { return nil }
        loads[connection] -= 1
        return connection
    }

    /// Changes the number of connections, to no fewer than the channels need. A channel moves only if it belongs on a new
    /// connection, or if its own connection is removed.
    mutating func resize(to connections: Int) -> [Move] {
        let (old, new) = (loads.count, max(connections, 1, (places.count + limit - 1) / limit))
        var moves: [Move] = []
        if new < old {
            loads.removeLast(old - new)
            for (channel, from) in places.filter({ $0.value >= new }).sorted(by: { $0.key < $1.key }) {
                guard let to = bestWithRoom(for: channel) else { continue }
                put(channel, on: to)
                moves.append(Move(channel: channel, from: from, to: to))
            }
        } else if new > old {  // not a mutant: without a new connection, nothing moves
            loads += Array(repeating: 0, count: new - old)
            for (channel, from) in places.sorted(by: { $0.key < $1.key }) {
                guard let to = ranks.holder(of: channel.text, among: loads.indices), to >= old, loads[to] < limit else {
                    continue
                }
                loads[from] -= 1
                put(channel, on: to)
                moves.append(Move(channel: channel, from: from, to: to))
            }
        }
        return moves
    }

    private func bestWithRoom(for channel: Name) -> Int? {
        ranks.holder(of: channel.text, among: loads.indices.lazy.filter { loads[$0] < limit })
    }

    private mutating func put(_ channel: Name, on connection: Int) {
        places[channel] = connection
        loads[connection] += 1
    }
}
