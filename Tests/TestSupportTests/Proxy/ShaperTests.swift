import Testing

@testable import TestSupport

@Suite struct ShaperTests {
    /// Passes bytes as fast as the shaper allows. Returns the time and the size of each portion.
    private func pass(_ bytes: Int, through shaper: inout Shaper, from start: Instant = .origin) -> [(Instant, Int)] {
        var (now, left) = (start, bytes)
        var portions: [(Instant, Int)] = []
        while left > 0 {
            switch shaper.allowance(of: left, at: now) {
            case .pass(let count):
                #expect((1...left).contains(count))
                shaper.passed(count, at: now)
                portions.append((now, count))
                left -= count
            case .wait(let time):
                guard time > now else {
                    Issue.record("it waits for what has passed already")
                    return portions
                }
                now = time
            }
        }
        return portions
    }

    @Test func `Without faults, all bytes pass at once`() {
        var shaper = Shaper()
        #expect(shaper.allowance(of: 1_000_000, at: .origin) == .pass(1_000_000))
    }

    @Test(arguments: [1, 7, 1000, 1_000_000])
    func `Limited bandwidth passes bytes in the time they take`(bandwidth: Int) {
        var shaper = Shaper()
        shaper.bandwidth = bandwidth
        let portions = pass(3 * bandwidth, through: &shaper)
        // At least as long as it must take, and less than a millisecond longer.
        let end = portions.last?.0 ?? .origin
        #expect(end >= .seconds(3) && end < .milliseconds(3001))
        #expect(portions.count <= 300)
    }

    @Test func `Unused bandwidth is not saved up`() {
        var shaper = Shaper()
        shaper.bandwidth = 1000
        _ = pass(1000, through: &shaper)
        let portions = pass(1000, through: &shaper, from: .seconds(60))
        #expect((portions.last?.0 ?? .origin) >= .seconds(60) + .milliseconds(980))
    }

    @Test(arguments: [0, -1, Int.min, Int.max])
    func `Extreme bandwidths and dribbles neither trap nor block the bytes`(number: Int) {
        var shaper = Shaper()
        shaper.bandwidth = number
        shaper.dribble = Shaper.Dribble(bytes: number, pause: .seconds(-1))
        #expect(pass(2, through: &shaper).map(\.1).reduce(0, +) == 2)
    }

    @Test func `A dribble passes its bytes in pieces with pauses`() {
        var shaper = Shaper()
        shaper.dribble = Shaper.Dribble(bytes: 3, pause: .seconds(2))
        let portions = pass(8, through: &shaper)
        #expect(portions.map(\.0) == [.seconds(0), .seconds(2), .seconds(4)])
        #expect(portions.map(\.1) == [3, 3, 2])
    }

    @Test func `A dribble's piece may pass in parts`() {
        var shaper = Shaper()
        shaper.dribble = Shaper.Dribble(bytes: 5, pause: .seconds(1))
        shaper.passed(3, at: .origin)
        #expect(shaper.allowance(of: 10, at: .origin) == .pass(2))
        shaper.passed(2, at: .origin)
        #expect(shaper.allowance(of: 10, at: .origin) == .wait(until: .seconds(1)))
    }
}
