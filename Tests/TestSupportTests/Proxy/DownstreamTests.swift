import Testing

@testable import TestSupport

@Suite struct DownstreamTests {
    private let head = Array("HTTP/1.1 101 Switching Protocols\r\n\r\n".utf8)
    private let frame: [UInt8] = [0x81, 3, 65, 66, 67]

    private func downstream(_ faults: [Fault], _ bytes: [UInt8]) -> Downstream {
        var downstream = Downstream(FaultPlan(faults))
        bytes.withUnsafeBytes { downstream.append($0, at: .origin) }
        return downstream
    }

    /// Passes all bytes that may pass at this time. Returns their number, and the step that holds back the rest.
    private func pass(_ downstream: inout Downstream, at now: Instant = .origin) -> (Int, Downstream.Step) {
        var count = 0
        while true {
            let step = downstream.next(at: now)
            guard case .pass(let bytes) = step else { return (count, step) }
            downstream.pass(bytes, at: now)
            count += bytes
        }
    }

    private func expect(
        _ faults: [Fault], _ bytes: [UInt8], pass count: Int, then step: Downstream.Step,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var downstream = downstream(faults, bytes)
        let passed = pass(&downstream)
        #expect(passed.0 == count, sourceLocation: sourceLocation)
        #expect(passed.1 == step, sourceLocation: sourceLocation)
    }

    @Test func `A fault after a number of bytes acts at exactly that byte`() {
        let all = head + frame
        for count in [0, 1, head.count, all.count - 1, all.count] {
            expect([.reset(after: .bytes(count))], all, pass: count, then: .stop(.reset))
        }
        expect([.reset(after: .bytes(all.count + 1))], all, pass: all.count, then: .wait(until: nil))
        expect([.reset(after: .bytes(-5))], all, pass: 0, then: .stop(.reset))
    }

    @Test func `A fault after a number of frames acts at the end of that frame`() {
        let all = head + frame + frame + frame.dropLast()
        for (frames, bytes) in [(-1, 0), (0, 0), (1, 5), (2, 10)] {
            expect([.stall(after: .frames(frames))], all, pass: head.count + bytes, then: .stop(.stall))
        }
        expect([.stall(after: .frames(3))], all, pass: all.count, then: .wait(until: nil))
        expect([.stall(after: .frames(0))], [0x81, 0], pass: 2, then: .wait(until: nil))
    }

    @Test func `The nearest stop acts first, and of several at one place the most severe one`() {
        let all = head + frame
        let reset = Fault.reset(after: .bytes(7))
        expect([.stall(after: .bytes(9)), reset, .truncate(after: .bytes(8))], all, pass: 7, then: .stop(.reset))
        expect([.stall(after: .bytes(7)), reset, .truncate(after: .bytes(7))], all, pass: 7, then: .stop(.reset))
        expect([.stall, .halfClose, .truncate(after: .start)], all, pass: 0, then: .stop(.truncate))
    }

    @Test func `A fault at a position already passed acts at once`() {
        var downstream = downstream([], head + frame + frame)
        #expect(pass(&downstream) == (head.count + 10, .wait(until: nil)))
        downstream.add(.halfClose(after: .frames(1)))
        #expect(downstream.next(at: .origin) == .stop(.halfClose))
        downstream.heal()
        downstream.add(.reset(after: .bytes(3)))
        #expect(downstream.next(at: .origin) == .stop(.reset))
        downstream.heal()
        #expect(downstream.next(at: .origin) == .wait(until: nil))
    }

    @Test func `A connection's end is passed on after all bytes before it`() {
        var finished = downstream([], head)
        finished.finish(.finished, at: .origin)
        finished.finish(.reset, at: .origin)
        #expect(pass(&finished) == (head.count, .end(.finished)))
        var stalled = downstream([.stall(after: .bytes(3))], head)
        stalled.finish(.reset, at: .origin)
        #expect(pass(&stalled) == (3, .stop(.stall)))
        stalled.heal()
        #expect(pass(&stalled) == (head.count - 3, .end(.reset)))
    }

    @Test func `Latency delays the bytes and the end of a connection`() {
        var downstream = downstream([.latency(.seconds(2))], head)
        frame.withUnsafeBytes { downstream.append($0, at: .seconds(1)) }
        downstream.finish(.finished, at: .seconds(4))
        #expect(pass(&downstream) == (0, .wait(until: .seconds(2))))
        #expect(pass(&downstream, at: .seconds(2)) == (head.count, .wait(until: .seconds(3))))
        #expect(pass(&downstream, at: .seconds(3)) == (5, .wait(until: .seconds(6))))
        #expect(pass(&downstream, at: .seconds(6)) == (0, .end(.finished)))
        downstream.add(.latency(.zero))
        #expect(downstream.next(at: .seconds(4)) == .end(.finished))
    }

    @Test func `A dribble and a truncation act together on one connection`() {
        var downstream = downstream([.dribble(bytes: 4, every: .seconds(1)), .truncate(after: .bytes(6))], head)
        #expect(pass(&downstream) == (4, .wait(until: .seconds(1))))
        #expect(pass(&downstream, at: .seconds(1)) == (2, .stop(.truncate)))
    }
}
