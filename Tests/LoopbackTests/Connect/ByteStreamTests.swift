#if os(Linux)
import Glibc
import Processes
@testable import PusherChannels
@testable import TestSupport
import Testing

/// A stream, turn by turn: the loop's work in each turn, and the result that the peer sees.
@Suite struct ByteStreamTests {
    // MARK: Reading

    /// Bytes that TLS has already read don't make the socket readable, so they must be read at once.
    @Test func `Bytes left in the TLS session after a full read are read without waiting for the socket`() async throws {
        let counts = try await StreamRig.run { rig in
            let session = try rig.handshakeInTLS12()
            while rig.turn() {}
            let size = rig.loop.readBuffer.count
            rig.send([UInt8](repeating: 1, count: size + 8), over: session)
            rig.loop.wait(.notAtAll)
            let first = rig.received.count
            // The next read fills the buffer, too: again some bytes remain, and only this turn knows about them.
            rig.send([UInt8](repeating: 2, count: size), over: session)
            while rig.loop.settle() {}
            return [first - size, rig.received.count - 2 * size]
        }
        #expect(counts == [0, 8])
    }

    @Test func `Bytes that wait in the TLS session during a pause are read when reading resumes`() async throws {
        let counts = try await StreamRig.run { rig in
            let session = try rig.handshakeInTLS12()
            while rig.turn() {}
            let size = rig.loop.readBuffer.count
            rig.stopsAtEachRead = true
            rig.send([UInt8](repeating: 1, count: size + 8), over: session)
            while rig.turn() {}
            let paused = rig.received.count
            rig.stopsAtEachRead = false
            rig.stream?.setReading(true)
            while rig.turn() {}
            return [paused - size, rig.received.count - size]
        }
        #expect(counts == [0, 8])
    }

    /// Data that OpenSSL reads for itself, such as tickets, counts as well: a single peer must not keep the loop from its other
    /// connections.
    @Test func `One turn of the loop reads only a share of a flood of tiny TLS records`() async throws {
        let (first, all) = try await StreamRig.run { rig in
            let session = try rig.handshakeInTLS12()
            while rig.turn() {}
            // Sends each byte in a record of some thirty bytes.
            rig.sendEachInARecord(8_000, over: session)
            rig.loop.wait(.notAtAll)
            let first = rig.received.count
            for _ in 0..<10 { rig.turn() }
            return (first, rig.received.count)
        }
        #expect(first > 2_000 && first < 6_000, "\(first)")
        #expect(all == 8_000)
    }

    @Test func `Data that arrives together with the end of the TLS handshake is read at once`() async throws {
        let received = try await StreamRig.run { rig in
            let session = try rig.handshakeInTLS12()
            rig.send(Array("early".utf8), over: session)
            while rig.turn() {}
            return rig.received
        }
        #expect(received == Array("early".utf8))
    }

    @Test func `A read that finds no bytes doesn't end the stream`() async throws {
        let received = try await StreamRig.run { rig in
            rig.stream?.socketReady(.readable)
            rig.send(Array("later".utf8))
            rig.turn()
            return rig.received
        }
        #expect(received == Array("later".utf8))
    }

    // MARK: The earliest time at which bytes may have arrived

    /// A loop's clock, which the test sets.
    private final class Clock: Sendable {
        private let time = Locked(Instant.origin)

        var environment: NetworkEnvironment { NetworkEnvironment(timeouts: .long, now: { self.time.withLock { $0 } }) }

        func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    @Test func `Received bytes are dated to the previous read, their earliest possible arrival`() async throws {
        let clock = Clock()
        let times = try await StreamRig.run(clock.environment) { rig in
            for _ in 1...3 {
                clock.advance(by: .seconds(5))
                rig.send([1])
                rig.turn()
            }
            return rig.times
        }
        #expect(times == [.origin, .seconds(5), .seconds(10)])
    }

    @Test func `Bytes that a full read had no room for are dated like the bytes of that read`() async throws {
        let clock = Clock()
        let times = try await StreamRig.run(clock.environment) { rig in
            rig.send([UInt8](repeating: 1, count: rig.loop.readBuffer.count + 1))
            for _ in 1...2 {
                clock.advance(by: .seconds(5))
                rig.turn()
            }
            rig.send([2])
            rig.turn()
            return rig.times
        }
        #expect(times == [.origin, .origin, .seconds(10)])
    }

    @Test func `Bytes that wait while reading is paused are dated to the start of the pause`() async throws {
        let clock = Clock()
        let times = try await StreamRig.run(clock.environment) { rig in
            rig.stream?.setReading(false)
            rig.send([1])
            clock.advance(by: .seconds(3))
            rig.turn()
            rig.stream?.setReading(true)
            rig.turn()
            return rig.times
        }
        #expect(times == [.origin])
    }

    /// A close frame may come after a large amount of data.
    @Test func `Bytes that wait when the peer resets are all delivered, even though reading is paused`() async throws {
        let (count, ends) = try await StreamRig.run { rig in
            rig.stream?.setReading(false)
            rig.stopsAtEachRead = true
            rig.send([UInt8](repeating: 7, count: 3 * rig.loop.readBuffer.count))
            guard rig.reset() else { throw Unexpected("no reset") }
            rig.turn()
            return (rig.received.count / rig.loop.readBuffer.count, rig.ends.map(\.explanation))
        }
        #expect(count == 3)
        #expect(ends == [": \(SystemError(number: ECONNRESET).text)"])
    }

    // MARK: Leaving

    @Test func `A stream that was cut closes its socket, and takes no bytes to write`() async throws {
        let (count, heard) = try await StreamRig.run { rig in
            guard let stream = rig.stream else { throw Unexpected("there is no stream") }
            stream.cut()
            let count = [UInt8(1), 2].withUnsafeBytes { stream.write($0) }
            let isReadable = Readiness.readable.wait(for: rig.peer)
            return (count, isReadable ? Sockets.receive(rig.peer, into: rig.loop.readBuffer) : .nothingYet)
        }
        #expect(count == 0)
        #expect(heard == .end)
    }

    @Test func `Leaving a stream tells the peer that nothing follows`() async throws {
        let heard = try await StreamRig.run { rig in
            rig.stream?.leave()
            Delivery.waitUntilArrived(from: rig.descriptor)
            return Sockets.receive(rig.peer, into: rig.loop.readBuffer)
        }
        #expect(heard == .end)
    }

    @Test func `Leaving a TLS stream sends an alert (close_notify)`() async throws {
        let kind = try await StreamRig.run { rig -> UInt8? in
            let session = try rig.handshakeInTLS12()
            while rig.turn() {}
            rig.stream?.leave()
            Delivery.waitUntilArrived(from: rig.descriptor)
            defer { withExtendedLifetime(session) {} }
            guard case .bytes = Sockets.receive(rig.peer, into: rig.loop.readBuffer) else { return nil }
            return rig.loop.readBuffer[0]
        }
        // A record with an alert arrives before the end.
        #expect(kind == 21)
    }

    /// A peer with much left to send must be able to send it, or it never sees that the client is done.
    @Test func `Leaving a paused stream resumes reading, so that the peer can send the rest`() async throws {
        let waits = try await StreamRig.run { rig in
            rig.stream?.setReading(false)
            rig.send(Array("unread".utf8))
            rig.turn()
            let before = Sockets.hasBytes(rig.descriptor)
            rig.stream?.leave()
            rig.turn()
            return [before, Sockets.hasBytes(rig.descriptor)]
        }
        #expect(waits == [true, false])
    }

    @Test func `A stream that was left ends after two seconds if the peer doesn't hang up`() async throws {
        let isGone = try await StreamRig.run { rig in
            rig.stream?.leave()
            var isOverdue = false
            let timer = rig.loop.timers.makeTimer()
            // Set later and for longer, so it fires later, however busy the machine is.
            timer.set(after: .milliseconds(2500)) { isOverdue = true }
            while rig.stream != nil, !isOverdue { rig.turn(.untilNext) }
            return rig.stream == nil
        }
        #expect(isGone)
    }

    // MARK: Writing

    /// Waiting for room in the socket, which there is, would wake the loop again and again.
    @Test(arguments: [false, true])
    func `A write that a cut message of TLS holds up waits for the rest of it, even if reading is stopped`(isPaused: Bool)
        async throws
    {
        let (cut, rooms, whole) = try await StreamRig.run { rig in
            let rest = try rig.handshakeWithLongTicket()
            while rig.turn() {}
            if isPaused { rig.stream?.setReading(false) }
            func write() -> Int { ([1, 2, 3] as [UInt8]).withUnsafeBytes { rig.stream?.write($0) ?? -1 } }
            let cut = write()
            for _ in 0..<10 { rig.turn() }
            let rooms = rig.rooms
            rig.send(rest)
            let whole = (0..<10).lazy.map { _ in
                rig.turn()
                return write()
            }.first { $0 != 0 }
            return (cut, rooms, whole)
        }
        #expect(cut == 0 && rooms == 0 && whole == 3)
    }

    @Test func `What came behind a cut message of TLS is read, if a write reads the rest of it`() async throws {
        let received = try await StreamRig.run { rig in
            let rest = try rig.handshakeWithLongTicket(followedBy: [7])
            while rig.turn() {}
            rig.send(rest)
            _ = ([1, 2, 3] as [UInt8]).withUnsafeBytes { rig.stream?.write($0) }
            for _ in 0..<10 { rig.turn() }
            return rig.received
        }
        #expect(received == [7])
    }

    /// The system reports a socket's error only once, to the first caller: the next write gets a different error, the next read
    /// an orderly end.
    @Test func `A reset that a write finds is the error with which the stream ends`() async throws {
        let ends = try await StreamRig.run { rig in
            guard rig.reset() else { throw Unexpected("no reset") }
            for _ in 0..<2 { _ = [1, 2, 3].withUnsafeBytes { rig.stream?.write($0) } }
            rig.turn()
            return rig.ends.map(\.explanation)
        }
        #expect(ends == [": \(SystemError(number: ECONNRESET).text)"])
    }
}
#endif
