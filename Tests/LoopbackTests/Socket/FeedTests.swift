#if os(Linux)
import Dispatch
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import Testing
import TestSupport

/// A server that sends as fast as it can: the client receives everything and loses nothing.
@Suite struct FeedTests {
    private struct Result: Decodable {
        let events: Int
    }

    private static let sanitizer = ProcessInfo.processInfo.environment["CI_SANITIZER"]

    /// The limit in kB. An optimized client reads so fast that its delivery queue fills up to its limit whenever the queue has to
    /// wait for a core. The thread sanitizer keeps its own records of memory.
    private static var limit: Int {
        #if DEBUG
        sanitizer == "thread" ? 20_480 : 10_240
        #else
        40_960
        #endif
    }

    private func feed(events: Int) async throws -> (Command, port: String) {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let program = root.appendingPathComponent("Benchmarks/feed").path
        let feed = try Command(program: program, ["--events", "\(events)", "--bytes", "95"])
        let address = try await feed.output.next(containing: "listening on")
        return (feed, address.split(separator: ":").last.map(String.init) ?? "")
    }

    /// The reader, a command that prints, is slower than the server: the server waits, and the command's memory doesn't grow.
    @Test(.disabled(if: Self.sanitizer == "address", "the address sanitizer keeps what is freed"))
    func `A client slower than its server loses no event, and its memory doesn't grow`() async throws {
        let events = 200_000
        try await withWatchdog {
            let server = try await Command.server()
            let idle = try Command("listen", "news", "--port", String(server.port))
            try await idle.errors.next(containing: "subscribed to news")
            let rest = try #require(try ProcessTables.residentMemory(of: idle.id, atMost: false))

            let (feed, port) = try await feed(events: events)
            defer { feed.signal(SIGKILL) }
            let listen = try Command("listen", "bench", "--event", "tick", "--port", port)
            for _ in 0..<events { _ = try #require(await listen.output.next()) }
            let most = try #require(try ProcessTables.residentMemory(of: listen.id, atMost: true))
            #expect(most - rest <= Self.limit, "\(rest) kB idle, \(most) kB at most")
        }
    }

    @Test func `The bench command counts every event of the fastest feed`() async throws {
        let events = 400_000
        try await withWatchdog {
            let (feed, port) = try await feed(events: events)
            let bench = try Command("bench", "--json", "--port", port)
            #expect(await bench.end() == .exit(0))
            let output = await bench.output.toEnd()
            let result = try JSONDecoder().decode(Result.self, from: Data((output.last ?? "").utf8))
            #expect(result.events == events, "\(events - result.events) were lost")
            #expect(await feed.end() == .exit(0), "\(feed.errors.all)")
        }
    }
}

/// Bytes that TLS has already read and decrypted don't make a socket readable, so a client that resumes reading must look for
/// them.
@Suite struct ReadingOnTests {
    /// One message fills a whole read, and a small one follows it, which is in the TLS session when the pause begins.
    @Test func `A message that waits in the TLS session during a pause is read when reading resumes`() async throws {
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
