import Testing

@testable import PusherChannels

/// How many loads of a client are under way, and how much is held for them.
@Suite struct LoadsTests {
    @Test func `loads begin in order, a few at a time, and each that ends lets the next one begin`() {
        let loads = Loads(limit: 2)
        let begun = Locked<[Int]>([])
        for number in 1...4 {
            loads.add {
                begun.withLock { $0.append(number) }
                return true
            }
        }
        #expect(begun.withLock { $0 } == [1, 2])
        loads.ended()
        #expect(begun.withLock { $0 } == [1, 2, 3])
        loads.ended()
        loads.ended()
        loads.ended()
        #expect(begun.withLock { $0 } == [1, 2, 3, 4])
    }

    @Test func `a load that isn't wanted any more takes no place`() {
        let loads = Loads(limit: 1)
        let begun = Locked(0)
        for _ in 0..<1000 { loads.add { false } }
        loads.add {
            begun.withLock { $0 += 1 }
            return true
        }
        #expect(begun.withLock { $0 } == 1)
    }

    @Test func `at most 16 MiB are held for all channels together`() {
        let loads = Loads(limit: 8)
        for _ in 0..<16 { #expect(loads.hold(1 << 20)) }
        #expect(!loads.hold(1))
        loads.release(1 << 20)
        #expect(loads.hold(1 << 20))
        #expect(!loads.hold(1))
    }

    @Test func `a limit below one is one`() {
        let loads = Loads(limit: 0)
        let begun = Locked(0)
        loads.add {
            begun.withLock { $0 += 1 }
            return true
        }
        #expect(begun.withLock { $0 } == 1)
    }
}
