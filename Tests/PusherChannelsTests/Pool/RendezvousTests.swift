import Testing

@testable import PusherChannels

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
