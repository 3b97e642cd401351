import Testing

@testable import PusherChannels

@Suite struct PoolPlacementTests {
    private let channels = (0..<10_000).map { Name("prices-\($0)") }

    private func placed(_ connections: Int, limit: Int) -> PoolPlacement {
        var placement = PoolPlacement(connections: connections, limit: limit)
        _ = placement.add(channels)
        return placement
    }

    @Test func `Channels are spread evenly over a pool's connections`() {
        let placement = placed(20, limit: 1000)
        #expect(placement.loads.count == 20 && placement.loads.reduce(0, +) == 10_000)
        #expect(placement.loads.allSatisfy { (400...600).contains($0) }, "\(placement.loads)")
    }

    @Test func `No connection of a pool has more channels than the limit`() {
        let placement = placed(1, limit: 100)
        #expect(placement.loads == Array(repeating: 100, count: 100))
    }

    /// Applications that want no limit use `Int.max`.
    @Test func `A pool with the largest possible channel limit can be filled and resized`() {
        var placement = placed(2, limit: .max)
        #expect(placement.loads.count == 2)
        _ = placement.resize(to: 3)
        #expect(placement.loads.count == 3 && placement.loads.reduce(0, +) == 10_000)
    }

    @Test func `When all connections are full, another is added for new channels and no channel moves`() {
        var placement = placed(1, limit: 100)
        let places = channels.map(placement.place)
        let added = placement.add(["one-more", "news", "one-more", "prices-1"])
        #expect(added.map(\.channel) == ["one-more", "news"] && added.map(\.connection) == [100, 100])
        #expect(placement.loads.count == 101)
        #expect(channels.map(placement.place) == places)
    }

    @Test func `A removed channel leaves room for another one`() {
        var placement = placed(1, limit: 100)
        let place = placement.remove("prices-7")
        #expect(place != nil)
        #expect(placement.remove("prices-7") == nil)
        #expect(placement.add(["another"]).map(\.connection) == [place])
        #expect(placement.loads.count == 100)
    }

    @Test func `An added connection takes its share of the channels, and no other channel moves`() {
        var placement = placed(20, limit: 1000)
        let moves = placement.resize(to: 21)
        #expect(moves.allSatisfy { $0.to == 20 && placement.place(of: $0.channel) == 20 })
        #expect(!moves.isEmpty && moves.count <= 10_000 / 21 * 12 / 10, "\(moves.count) of 10000")
        #expect(placement.loads.reduce(0, +) == 10_000 && placement.loads[20] == moves.count)
    }

    @Test func `Removing a connection moves only that connection's channels`() {
        var placement = placed(20, limit: 1000)
        let own = channels.filter { placement.place(of: $0) == 19 }
        let moves = placement.resize(to: 19)
        #expect(Set(moves.map(\.channel)) == Set(own))
        #expect(moves.allSatisfy { $0.from == 19 && $0.to < 19 })
        #expect(placement.loads.reduce(0, +) == 10_000)
    }

    @Test func `A pool never has fewer connections than its channels need`() {
        var placement = placed(1, limit: 1000)
        for number in [3, -5] {
            #expect(placement.resize(to: number).isEmpty)
            #expect(placement.loads.count == 10)
        }
    }

    @Test(arguments: [0, -1, Int.min])
    func `A number of connections or a channel limit below one counts as one`(number: Int) {
        var placement = PoolPlacement(connections: number, limit: number)
        #expect(placement.add(["a", "b"]).map(\.connection).sorted() == [0, 1])
    }
}

@Suite struct ShardTests {
    private let channels = (0..<10_000).map { "prices-\($0)" }

    @Test func `Each channel belongs to exactly one shard, and all shards have similar sizes`() throws {
        let shards = try (0..<10).map { try Shard($0, of: 10) }
        for channel in channels { #expect(shards.count { $0.has(channel) } == 1) }
        for shard in shards { #expect((900...1100).contains(channels.count(where: shard.has))) }
        #expect(channels.allSatisfy(Shard.whole.has))
    }

    @Test(arguments: [(-1, 3), (3, 3), (0, 0), (0, -1), (Int.max, Int.max), (Int.min, Int.max)])
    func `A shard whose index or count is out of range is refused`(index: Int, count: Int) {
        let error = #expect(throws: PusherError.self) { try Shard(index, of: count) }
        #expect(error?.kind == .invalidRequest && error?.message.contains("no shard \(index) of \(count)") == true)
    }

    @Test func `A shard is read from the environment, by its index or the end of the host name`() throws {
        #expect(try Shard(environment: [:]) == .whole)
        #expect(try Shard(environment: ["PUSHER_SHARD_COUNT": "1", "PUSHER_SHARD_INDEX": "0"]) == .whole)
        #expect(try Shard(environment: ["PUSHER_SHARD_COUNT": "10", "PUSHER_SHARD_INDEX": "2"]) == Shard(2, of: 10))
        #expect(try Shard(environment: ["PUSHER_SHARD_COUNT": "10", "HOSTNAME": "price-listener-7"]).description == "7 of 10")
        let both = ["PUSHER_SHARD_COUNT": "10", "PUSHER_SHARD_INDEX": "2", "HOSTNAME": "listener-7"]
        #expect(try Shard(environment: both).index == 2)
    }

    @Test(arguments: [
        (["PUSHER_SHARD_COUNT": "many"], "PUSHER_SHARD_COUNT is many"),
        (["PUSHER_SHARD_COUNT": "0", "PUSHER_SHARD_INDEX": "0"], "PUSHER_SHARD_COUNT is 0"),
        (["PUSHER_SHARD_COUNT": "3"], "the end of HOSTNAME is"),
        (["PUSHER_SHARD_COUNT": "3", "HOSTNAME": "web"], "the end of HOSTNAME is web"),
        (["PUSHER_SHARD_COUNT": "3", "PUSHER_SHARD_INDEX": "3"], "PUSHER_SHARD_INDEX is 3: a number from 0 to 2"),
    ])
    func `An environment with no valid shard is refused with the variable's name`(variables: [String: String], message: String) {
        let error = #expect(throws: PusherError.self) { try Shard(environment: variables) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}

@Suite struct RendezvousTests {
    /// The values were computed in Python with another implementation of FNV-1a and SplitMix64; processes with other versions
    /// must agree with them.
    @Test(arguments: [
        ("news", [0, 0, 0, 4, 32]), ("private-orders", [0, 1, 1, 5, 46]), ("presence-lobby", [0, 0, 0, 0, 12]),
        ("prices-é", [0, 1, 1, 6, 99]), ("a", [0, 0, 2, 9, 66]),
    ])
    func `A channel falls to the same shard in every version of the library`(name: String, holders: [Int]) {
        let ranks = Rendezvous(salt: 0x73_6861_7264)
        #expect([1, 2, 3, 10, 100].map { ranks.holder(of: name, among: 0..<$0) } == holders)
    }

    @Test func `Among no candidates, a channel has no holder`() {
        #expect(Rendezvous(salt: 1).holder(of: "news", among: []) == nil)
    }
}
