#if os(Linux)
import Foundation
import Glibc
import Processes
import Testing
import TestSupport

@testable import chaos

/// `serve` with few descriptors.
@Suite(.serialized) struct ServeShortageTests {
    @Test func itSaysThatItIsDeaf() async throws {
        try await withWatchdog {
            // The search for leaks at the end needs a descriptor.
            let (serve, port) = try await Command.server(environment: ["ASAN_OPTIONS": "detect_leaks=0"])
            // The server keeps its descriptors, but there is none for the next connection.
            try ProcessLimit.descriptors.set(3, of: serve.id)
            let client = try RawClient(port: port)
            #expect(await serve.end() == .exit(1))
            let errors = await serve.errors.toEnd()
            // A build that measures coverage prints another line, as it gets no descriptor either.
            #expect(errors.contains("Error: the server can't listen any more: Too many open files"), "\(errors)")
            withExtendedLifetime(client) {}
        }
    }

    /// A server raises the soft limit of descriptors that a shell has set.
    @Test func itTakesAsManyAsThereMayBe() async throws {
        try await withWatchdog {
            let serve = try Command(
                program: "/bin/sh", ["-c", "ulimit -S -n 64; exec \"$0\" serve --port 0", try Command.program()],
                environment: ["PUSHER_CONFIG": "/dev/null"])
            let line = try await serve.output.next(containing: "listening on")
            let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
            let clients = try (1...100).map { _ in try RawClient(port: port) }
            let last = try #require(clients.last)
            last.send(Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
            #expect(try await last.reads(12).bytes == Array("HTTP/1.1 200".utf8))
            serve.signal(SIGTERM)
            #expect(await serve.end() == .exit(0))
        }
    }
}
#endif
