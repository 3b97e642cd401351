import Testing

@testable import PusherChannels

@Suite struct ShardTests {
    private let channels = (0..<10_000).map { "prices-\($0)" }

    private func shards(_ count: Int) throws -> [Shard] {
        try (0..<count).map { try Shard($0, of: count) }
    }

    @Test func eachChannelIsOneProcesss() throws {
        let shards = try shards(10)
        for channel in channels { #expect(shards.filter { $0.has(channel) }.count == 1) }
        for shard in shards { #expect((900...1100).contains(channels.filter(shard.has).count)) }
        #expect(channels.allSatisfy(Shard.whole.has))
    }

    @Test func anotherProcessTakesItsPartAndMovesNothingElse() throws {
        let (before, after) = (try shards(10), try shards(11))
        var moved = 0
        for channel in channels {
            let (old, new) = (before.firstIndex { $0.has(channel) }, after.firstIndex { $0.has(channel) })
            if old != new {
                moved += 1
                #expect(new == 10)
            }
        }
        #expect((10_000 / 11 - 120...10_000 / 11 + 120).contains(moved))
    }

    @Test(arguments: [(-1, 3), (3, 3), (0, 0), (0, -1), (Int.max, Int.max), (Int.min, Int.max)])
    func thereIsNoShardOfOtherNumbers(index: Int, count: Int) {
        let error = #expect(throws: PusherError.self) { try Shard(index, of: count) }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.message.contains("no shard \(index) of \(count)") == true)
    }

    @Test func theEnvironmentNamesIt() throws {
        #expect(try Shard(environment: [:]) == .whole)
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
    func anEnvironmentThatDoesNotFitIsRefused(variables: [String: String], message: String) {
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
    func theRanksAreAPromise(name: String, holders: [Int]) {
        let ranks = Rendezvous(salt: 0x73_6861_7264)
        #expect([1, 2, 3, 10, 100].map { ranks.holder(of: name, among: 0..<$0) } == holders)
    }

    @Test func nobodyIsTheHolderAmongNone() {
        #expect(Rendezvous(salt: 1).holder(of: "news", among: []) == nil)
    }
}
