#if os(Linux)
import Foundation
import Glibc
import Processes
import Testing

/// `demo` when somebody has enough of it: its server goes, too.
@Suite(.serialized) struct DemoSignalTests {
    @Test(arguments: [(SIGINT, Command.End.exit(128 + SIGINT)), (SIGTERM, .exit(128 + SIGTERM)), (SIGKILL, .signal(SIGKILL))])
    func theServerDoesNotOutliveIt(signal: Int32, end: Command.End) async throws {
        try await withWatchdog {
            let (port, held) = try HeldPort.take()
            defer { close(held) }
            // Its clients reach nobody, so that it stays where it is until the signal.
            let silent = try RawServer { _ = $0.readRest() }
            let demo = try Command("demo", "--server-port", String(port), "--front", "127.0.0.1:\(silent.port)")
            try await demo.output.next(containing: "1. start a server")
            let client = try RawClient(port: port)
            demo.signal(signal)
            #expect(await demo.end() == end)
            #expect(try await client.reads().end != .open)
            // The system may close what was accepted before what listens: whoever still gets in is thrown out at once.
            while let late = try? RawClient(port: port) { try #require(try await late.reads().end != .open) }
        }
    }
}
#endif
