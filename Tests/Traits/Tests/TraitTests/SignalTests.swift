import Foundation
import PusherChannels
import TestSupport
import Testing

/// A service in its own process, with a real server and a real signal.
@Suite(.timeLimit(.minutes(3))) struct SignalTests {
    /// Runs the service, ends it with SIGTERM after a line of its output, and returns its status and its lines. Calls `flood`
    /// once the service has begun.
    private func run(
        at port: Int, until line: String, flood: () async throws -> Void = {}
    ) async throws -> (status: Int32, lines: [String]) {
        let service = Process()
        service.executableURL = Bundle.main.bundleURL.appendingPathComponent("service")
        service.arguments = ["\(port)"]
        let (output, pieces) = (Pipe(), AsyncStream<Data>.makeStream())
        service.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { handle in
            let piece = handle.availableData
            if piece.isEmpty { pieces.continuation.finish() } else { pieces.continuation.yield(piece) }
        }
        try service.run()
        var text = Data()
        var iterator = pieces.stream.makeAsyncIterator()
        func read() async -> Bool {
            guard let piece = await iterator.next() else { return false }
            text += piece
            return true
        }
        _ = await read()
        do {
            try await flood()
        } catch {
            service.terminate()
            throw error
        }
        let wanted = Data((line + "\n").utf8)
        while text.range(of: wanted) == nil, await read() {}
        kill(service.processIdentifier, SIGTERM)
        while await read() {}
        output.fileHandleForReading.readabilityHandler = nil
        service.waitUntilExit()
        return (service.terminationStatus, String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    @Test func `SIGTERM during a flood of events loses none that was read`() async throws {
        let (subscribed, continuation) = AsyncStream<Void>.makeStream()
        var settings = LocalServer.Settings()
        settings.onEvent = { if "\($0)".contains("subscribe") { continuation.yield() } }
        let server = try await LocalServer.start(apps: [ServerApp(id: "1", key: "key", secret: "secret")], settings: settings)
        let result = try await run(at: server.port, until: "100") {
            for await _ in subscribed { break }
            for number in 0..<20_000 { server.publish(channel: "numbers", event: "number", data: "\(number)") }
        }
        await server.stop()
        #expect(result.status == 0)
        #expect(result.lines.first == "begun")
        #expect(result.lines.last == "end", "the loop ended by itself")
        let numbers = Array(result.lines.dropFirst().dropLast())
        #expect(numbers == (0..<numbers.count).map { "\($0)" }, "nothing is missing between")
        #expect(numbers.count > 100)
    }

    @Test func `SIGTERM ends a service that has no connection yet`() async throws {
        // The port refuses connections, so the client waits for its next attempt.
        let server = try await LocalServer.start()
        let port = server.port
        await server.stop()
        let result = try await run(at: port, until: "begun")
        #expect(result.status == 0)
        #expect(result.lines == ["begun", "end"])
    }
}
