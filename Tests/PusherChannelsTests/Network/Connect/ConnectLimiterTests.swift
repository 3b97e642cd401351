#if os(Linux)
@testable import PusherChannels
import Testing

@Suite struct ConnectLimiterTests {
    private final class Log {
        var begun: [UInt64] = []
    }

    private let log = Log()

    private func enter(_ numbers: ClosedRange<UInt64>, _ endpoint: String, _ queue: inout ConnectLimiter) {
        for number in numbers {
            queue.enter(LoopKey(number: number), to: endpoint) { [log] in log.begun.append(number) }
        }
    }

    private func turn(_ queue: inout ConnectLimiter) -> [UInt64] {
        log.begun = []
        for begin in queue.takeTurns() { begin() }
        #expect(queue.isEmpty)
        return log.begun
    }

    @Test func soManyAtATimeInTheirOrder() {
        var queue = ConnectLimiter()
        enter(1...200, "a", &queue)
        #expect(turn(&queue) == Array(1...64))
        #expect(turn(&queue) == [])
        for number in UInt64(10)...12 { queue.leave(LoopKey(number: number), to: "a") }
        #expect(turn(&queue) == [65, 66, 67])
    }

    @Test func endpointsDoNotHoldEachOtherUp() {
        var queue = ConnectLimiter()
        enter(1...100, "dead", &queue)
        enter(101...103, "living", &queue)
        #expect(turn(&queue) == Array(1...64) + Array(101...103))
    }

    @Test func whoLeavesBeforeItsTurnTakesNobodysPlace() {
        var queue = ConnectLimiter()
        enter(1...70, "a", &queue)
        _ = turn(&queue)
        for number in UInt64(65)...68 { queue.leave(LoopKey(number: number), to: "a") }
        #expect(turn(&queue) == [])
        queue.leave(LoopKey(number: 1), to: "a")
        #expect(turn(&queue) == [69])
    }

    @Test func leavingTwiceFreesOnePlace() {
        var queue = ConnectLimiter()
        enter(1...70, "a", &queue)
        _ = turn(&queue)
        queue.leave(LoopKey(number: 1), to: "a")
        queue.leave(LoopKey(number: 1), to: "a")
        queue.leave(LoopKey(number: 1), to: "nowhere")
        #expect(turn(&queue) == [65])
    }

    /// Otherwise they would add up in a queue that never empties.
    @Test func thoseWhoLeftAreForgotten() {
        var queue = ConnectLimiter()
        enter(1...70, "a", &queue)
        for number in UInt64(71)...1000 {
            enter(number...number, "a", &queue)
            queue.leave(LoopKey(number: number), to: "a")
        }
        #expect(queue.count < 100)
        _ = turn(&queue)
        queue.leave(LoopKey(number: 1), to: "a")
        #expect(turn(&queue) == [65])
    }

    @Test func oneThatFailsAtOnceMakesRoomWithoutRecursion() {
        var queue = ConnectLimiter()
        enter(1...10_000, "a", &queue)
        var count = 0
        while !queue.isEmpty {
            for number in turn(&queue) {
                count += 1
                queue.leave(LoopKey(number: number), to: "a")
            }
        }
        #expect(count == 10_000)
    }
}
#endif
