#if os(Linux)
import Dispatch
import Glibc
import Processes
@testable import PusherChannels
import TestSupport
import Testing

/// Bytes that TLS has already read and decrypted make no socket readable: a client that reads on must look for them.
@Suite struct ReadingOnTests {
    /// One read's worth in one message, and a little behind it: that lies in the session when the pause begins.
    @Test func whatLiesInTheSessionIsReadWhenReadingGoesOn() async throws {
        let large = Frame(opcode: 2, payload: [UInt8](repeating: 7, count: (1 << 16) - 4))
        let small = Frame.text("behind")
        #expect(large.bytes.count == 1 << 16)
        try await withWatchdog {
            let goOn = DispatchSemaphore(value: 0)
            let server = try RawServer(tls: .throwaway) { connection in
                try connection.upgrade()
                goOn.wait()
                // Cut so that a record of TLS has the end of the one and the other, whatever OpenSSL reads ahead.
                try connection.send(large.bytes + small.bytes, cut: .at(1000))
                try connection.readToEnd()
            }
            let port = server.port
            let loop = NetworkLoop(timeouts: .long)
            let holder = Locked<SocketRig?>(nil)
            let rig = SocketRig(socket: NetworkWebSocket(loop: loop)) { event in
                switch event {
                case .opened:
                    // All of it is there before any is read.
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
    /// Returns when so many bytes, and what TLS adds, wait to be read; after very long in any case.
    static func wait(for count: Int, at descriptor: Int32) {
        var (waiting, turns) = (Int32(0), 0)
        var nothing = pollfd(fd: -1, events: 0, revents: 0)
        while turns < 1000 * Patience.seconds, ioctl(descriptor, UInt(FIONREAD), &waiting) == 0, waiting <= count {
            // A millisecond at a time.
            poll(&nothing, 1, 1)
            turns += 1
        }
    }
}
#endif
