#if os(Linux)
import Glibc
@testable import PusherChannels
import Testing

@Suite struct ConnectLimiterTests {
    private final class Log {
        var begun: [UInt64] = []
    }

    private let log = Log()

    private func enter(_ numbers: ClosedRange<UInt64>, _ endpoint: String, _ queue: inout ConnectLimiter) {
        for number in numbers { queue.enter(LoopKey(number: number), to: endpoint) { [log] in log.begun.append(number) } }
    }

    private func turn(_ queue: inout ConnectLimiter) -> [UInt64] {
        log.begun = []
        for begin in queue.takeTurns() { begin() }
        #expect(queue.isEmpty)
        return log.begun
    }

    @Test func `At most 64 connects to an endpoint run at a time, and the others follow in order`() {
        var queue = ConnectLimiter()
        enter(1...200, "a", &queue)
        #expect(turn(&queue) == Array(1...64))
        #expect(turn(&queue) == [])
        for number in UInt64(10)...12 { queue.leave(LoopKey(number: number), to: "a") }
        #expect(turn(&queue) == [65, 66, 67])
    }

    @Test func `A busy endpoint doesn't hold up connects to another one`() {
        var queue = ConnectLimiter()
        enter(1...100, "dead", &queue)
        enter(101...103, "living", &queue)
        #expect(turn(&queue) == Array(1...64) + Array(101...103))
    }

    @Test func `A connect that is given up while it waits, or reported as over twice, frees no place of another`() {
        var queue = ConnectLimiter()
        enter(1...71, "a", &queue)
        _ = turn(&queue)
        for number in UInt64(65)...68 { queue.leave(LoopKey(number: number), to: "a") }
        #expect(turn(&queue) == [])
        for endpoint in ["a", "a", "nowhere"] { queue.leave(LoopKey(number: 1), to: endpoint) }
        #expect(turn(&queue) == [69])
    }

    /// Otherwise they would add up in a queue that never empties.
    @Test func `Connects that are given up while they wait don't pile up in the queue`() {
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
}

@Suite struct AddressRefusalsTests {
    @Test(arguments: [(ECONNREFUSED, TransportError.Kind.connectionRefused), (ETIMEDOUT, .noAnswer), (ENETUNREACH, .unreachable)])
    func `The error of failed addresses has the last one's kind and lists them all`(number: Int32, kind: TransportError.Kind) {
        let last = SystemError(number: number)
        let others = number == ENETUNREACH ? [number] : [ECONNREFUSED, ETIMEDOUT, ENETUNREACH]
        for before in others.map(SystemError.init) {
            var refusals = AddressRefusals()
            refusals.add("192.0.2.1", before)
            refusals.add("192.0.2.2", last)
            let list = "\(before.text) (address 192.0.2.1), \(last.text) (address 192.0.2.2)"
            #expect(
                refusals.failure(endpoint: "ws.example:80") == TransportError(kind, "ws.example:80 can't be reached: \(list)"))
        }
    }

    /// On a machine with only IPv4, the IPv6 addresses come last; their errors must not hide the real one.
    @Test(arguments: [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT])
    func `An address without a route doesn't hide that another address refused the connection`(number: Int32) {
        var refusals = AddressRefusals()
        refusals.add("192.0.2.1", SystemError(number: ECONNREFUSED))
        refusals.add("2001:db8::1", SystemError(number: number))
        #expect(refusals.failure(endpoint: "ws.example:80").kind == .connectionRefused)
    }
}
#endif
