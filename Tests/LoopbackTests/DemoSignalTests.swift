#if os(Linux)
import Foundation
import Glibc
import Processes
import Testing

/// `demo` ended by a signal: its server ends, too.
@Suite(.serialized) struct DemoSignalTests {
    @Test(arguments: [(SIGINT, Command.End.exit(128 + SIGINT)), (SIGTERM, .exit(128 + SIGTERM)), (SIGKILL, .signal(SIGKILL))])
    func theServerDoesNotOutliveIt(signal: Int32, end: Command.End) async throws {
        try await withWatchdog {
            let (port, held) = try HeldPort.take()
            defer { close(held) }
            // The demo's clients get no reply, so it stays at this step until the signal.
            let silent = try RawServer { _ = $0.readRest() }
            let demo = try Command("demo", "--server-port", String(port), "--front", "127.0.0.1:\(silent.port)")
            try await demo.output.next(containing: "1. start a server")
            let client = try RawClient(port: port)
            demo.signal(signal)
            #expect(await demo.end() == end)
            #expect(try await client.reads().end != .open)
            // The system may close accepted connections before the listener: a client that still gets in is disconnected at once.
            while let late = try? RawClient(port: port) { try #require(try await late.reads().end != .open) }
        }
    }
}
#endif
