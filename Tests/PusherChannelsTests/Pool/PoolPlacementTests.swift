import Testing

@testable import PusherChannels

@Suite struct PoolPlacementTests {
    private let channels = (0..<10_000).map { Name("prices-\($0)") }

    private func placed(_ connections: Int, limit: Int) -> PoolPlacement {
        var placement = PoolPlacement(connections: connections, limit: limit)
        _ = placement.add(channels)
        return placement
    }

    @Test func channelsAreSpreadOverTheConnections() {
        let placement = placed(20, limit: 1000)
        #expect(placement.loads.count == 20)
        #expect(placement.loads.reduce(0, +) == 10_000)
        for load in placement.loads { #expect((400...600).contains(load)) }
    }

    @Test func noConnectionHasMoreThanTheLimit() {
        let placement = placed(1, limit: 100)
        #expect(placement.loads == Array(repeating: 100, count: 100))
    }

    /// Applications that want no limit use `Int.max`.
    @Test func anyLimitWillDo() {
        var placement = placed(2, limit: .max)
        #expect(placement.loads.count == 2)
        _ = placement.resize(to: 3)
        #expect(placement.loads.count == 3)
        #expect(placement.loads.reduce(0, +) == 10_000)
    }

    @Test func connectionsAreAddedWhereTheOthersAreFullAndNothingMoves() {
        var placement = placed(1, limit: 100)
        let places = channels.map(placement.place)
        let added = placement.add(["one-more", "news", "one-more", "prices-1"])
        #expect(added.map(\.channel) == ["one-more", "news"])
        #expect(added.map(\.connection) == [100, 100])
        #expect(placement.loads.count == 101)
        #expect(channels.map(placement.place) == places)
    }

    @Test func whatIsGivenUpLeavesRoom() {
        var placement = placed(1, limit: 100)
        let place = placement.remove("prices-7")
        #expect(place != nil)
        #expect(placement.remove("prices-7") == nil)
        #expect(placement.add(["another"]).map(\.connection) == [place])
        #expect(placement.loads.count == 100)
    }

    @Test func anotherConnectionTakesItsPartAndMovesNothingElse() {
        var placement = placed(20, limit: 1000)
        let moves = placement.resize(to: 21)
        #expect(moves.allSatisfy { $0.to == 20 })
        #expect(!moves.isEmpty)
        #expect(moves.count <= 10_000 / 21 * 12 / 10, "\(moves.count) of 10000")
        for move in moves { #expect(placement.place(of: move.channel) == 20) }
        #expect(placement.loads.reduce(0, +) == 10_000)
        #expect(placement.loads[20] == moves.count)
    }

    @Test func oneConnectionLessMovesItsOwnOnly() {
        var placement = placed(20, limit: 1000)
        let own = channels.filter { placement.place(of: $0) == 19 }
        let moves = placement.resize(to: 19)
        #expect(Set(moves.map(\.channel)) == Set(own))
        #expect(moves.allSatisfy { $0.from == 19 && $0.to < 19 })
        #expect(placement.loads.reduce(0, +) == 10_000)
    }

    @Test func thereAreNoFewerThanTheChannelsNeed() {
        var placement = placed(1, limit: 1000)
        #expect(placement.resize(to: 3).isEmpty)
        #expect(placement.loads.count == 10)
        #expect(placement.resize(to: -5).isEmpty)
        #expect(placement.loads.count == 10)
    }

    @Test(arguments: [0, -1, Int.min])
    func oddNumbersCountAsOne(number: Int) {
        var placement = PoolPlacement(connections: number, limit: number)
        #expect(placement.add(["a", "b"]).map(\.connection).sorted() == [0, 1])
    }
}
