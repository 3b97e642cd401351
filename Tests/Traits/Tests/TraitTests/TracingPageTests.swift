import Foundation
import InMemoryTracing
import PusherChannels
import TestSupport
import Testing
import Tracing

@Suite struct TracingPageTests {
    /// Returns the names of the table's spans with those of their attributes.
    private func table() throws -> [String: Set<String>] {
        let repository = URL(fileURLWithPath: #filePath).pathComponents.dropLast(5).joined(separator: "/")
        let page = try String(
            contentsOfFile: repository + "/Sources/PusherChannels/PusherChannels.docc/InAService.md", encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## Tracing").last?.components(separatedBy: "\n## ").first)
        var table: [String: Set<String>] = [:]
        for row in section.components(separatedBy: "\n") where row.hasPrefix("| `") {
            let cells = row.components(separatedBy: "|").dropFirst().dropLast().map { cell in
                // The text between two backticks.
                cell.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            }
            for span in cells[0] { table[span] = Set(try #require(cells.last)) }
        }
        return table
    }

    @Test func `The tracing page's table lists exactly the spans that exist, with their attributes`() async throws {
        let client = TracedClient { options, environment in
            options.authMethod = .endpoint(authEndpoint: "https://example.com/auth")
            environment.scheduler = LiveScheduler()
        }
        let api = PusherHTTPAPI(
            appID: "1", key: "key", secret: "secret",
            options: PusherHTTPAPIOptions(
                retryPolicy: RetryPolicy(maximumAttempts: 2, initialDelay: .zero, publishing: .atLeastOnce)),
            environment: client.environment)
        client.session.stub(.path("/auth"), .http(403), .json(["auth": "key:signature"]))
        client.session.stub(.path("/apps/1/x"), .http(503), .json([String: String]()))
        client.session.stub(.path("/apps/1/y"), .http(503), .json([String: String]()))
        client.session.stub(.path("/apps/1/events"), .json([String: String]()))
        client.session.stub(.path("/apps/1/batch_events"), .http(400))
        try await api.trigger(channels: ["news"], eventName: "e", data: "1")
        let batch = ["a", "b"].map { PusherBatchEvent(channel: $0, eventName: "e", data: "1") }
        await #expect(throws: PusherError.self) { try await api.triggerBatch(batch) }
        _ = try await api.get("/x")
        _ = try await api.post("/y", body: "1")
        client.pusher.connect()
        client.pusher.subscribe("private-a")
        client.pusher.subscribe("private-a")
        for try await step in client.pusher.follow("news", loading: { 1 }) { if case .state = step { break } }
        let error = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: "https://example.com/?token=s3cret"])
        for try await step in client.pusher.follow("news", loading: { throw error }) { if case .failed = step { break } }
        #expect(client.spans("pusher.load").allSatisfy { $0.errors.isEmpty && !"\($0)".contains("s3cret") })
        client.pusher.disconnect()
        client.socket.play(.close(code: 4001))
        client.pusher.connect()
        var seen: [String: Set<String>] = [:]
        for span in client.spans() { seen[span.operationName, default: []].formUnion(span.names) }
        #expect(try table() == seen)
    }
}
