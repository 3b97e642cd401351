#if os(Linux)
import Dispatch
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Bytes that TLS has already read and decrypted don't make a socket readable, so a client that resumes reading must look for
/// them.
@Suite struct ReadingOnTests {
    /// One message fills a whole read, and a small one follows it, which is in the TLS session when the pause begins.
    @Test func whatLiesInTheSessionIsReadWhenReadingGoesOn() async throws {
        let large = Frame(opcode: 2, payload: [UInt8](repeating: 7, count: (1 << 16) - 4))
        let small = Frame.text("behind")
        #expect(large.bytes.count == 1 << 16)
        try await withWatchdog {
            let goOn = DispatchSemaphore(value: 0)
            let server = try RawServer(tls: .throwaway) { connection in
                try connection.upgrade()
                goOn.wait()
                // Cut so that one TLS record contains the end of the large message and the small one, whatever OpenSSL reads
                // ahead.
                try connection.send(large.bytes + small.bytes, cut: .at(1000))
                try connection.readToEnd()
            }
            let port = server.port
            let loop = NetworkLoop(timeouts: .long)
            let holder = Locked<SocketRig?>(nil)
            let rig = SocketRig(socket: NetworkWebSocket(loop: loop)) { event in
                switch event {
                case .opened:
                    // All bytes have arrived before any are read.
                    guard let descriptor = ProcessTables.descriptors(connectedTo: port).first else { return }
                    var size: Int32 = 1 << 20
                    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
                    goOn.signal()
                    _ = Readiness.readable.wait(for: descriptor)
                    Arrival.wait(for: large.bytes.count + small.bytes.count, at: descriptor)
                case .binary: holder.withLock { $0 }?.socket.setReading(false)
                default: break
                }
            }
            holder.withLock { $0 = rig }
            rig.socket.open(.toLoopback(port: port, secure: true), attempt: first)
            #expect(await rig.events.next() == .opened(first))
            #expect(await rig.events.next() == .binary(large.payload))
            await serviceTurn(of: loop)
            await serviceTurn(of: loop)
            rig.socket.setReading(true)
            #expect(await rig.events.next() == .text("behind"))
            holder.withLock { $0 = nil }
            await loop.shutdown()
        }
    }
}

private enum Arrival {
    /// Returns once `count` bytes and what TLS adds to them wait to be read, or after a very long time.
    static func wait(for count: Int, at descriptor: Int32) {
        var (waiting, turns) = (Int32(0), 0)
        var nothing = pollfd(fd: -1, events: 0, revents: 0)
        while turns < 1000 * Patience.seconds, ioctl(descriptor, UInt(FIONREAD), &waiting) == 0, waiting <= count {
            // Waits a millisecond.
            poll(&nothing, 1, 1)
            turns += 1
        }
    }
}
#endif
