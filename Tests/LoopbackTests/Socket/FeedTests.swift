#if os(Linux)
import Foundation
import Glibc
import Processes
@testable import PusherChannels
import Testing
import TestSupport

/// A server that sends as fast as it can: the client receives everything and loses nothing.
@Suite(.watchdog) struct FeedTests {
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

    @Test(.disabled(if: Self.sanitizer == "address", "the address sanitizer keeps what is freed"))
    func `A client slower than its server loses no event, and its memory doesn't grow`() async throws {
        let events = 200_000
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

    @Test func `The bench command counts every event of the fastest feed`() async throws {
        let events = 400_000
        let (feed, port) = try await feed(events: events)
        let bench = try Command("bench", "--json", "--port", port)
        #expect(await bench.end() == .exit(0))
        let output = await bench.output.toEnd()
        let result = try JSONDecoder().decode(Result.self, from: Data((output.last ?? "").utf8))
        #expect(result.events == events, "\(events - result.events) were lost")
        #expect(await feed.end() == .exit(0), "\(feed.errors.all)")
    }
}
#endif
