#if os(Linux)
import Foundation
import Testing

/// A server that sends as fast as it can: the client takes what comes, and loses nothing.
@Suite struct FeedTests {
    private struct Result: Decodable {
        let events: Int
    }

    @Test func everyEventOfAFastFeedIsCounted() async throws {
        let events = 400_000
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let program = root.appendingPathComponent("Benchmarks/feed").path
        try await withWatchdog(seconds: 120) {
            let feed = try Command(program: program, ["--events", "\(events)", "--bytes", "95"])
            let address = try await feed.output.next(containing: "listening on")
            let port = address.split(separator: ":").last.map(String.init) ?? ""
            let bench = try Command("bench", "--json", "--port", port)
            #expect(await bench.end() == .exit(0))
            let output = await bench.output.toEnd()
            let result = try JSONDecoder().decode(Result.self, from: Data((output.last ?? "").utf8))
            #expect(result.events == events, "\(events - result.events) were lost")
            #expect(await feed.end() == .exit(0), "\(feed.errors.all)")
        }
    }
}
#endif
