#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// `listen` ended by signals.
@Suite(.serialized) struct ListenSignalTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `The listen command closes its connection with 1000 at a signal, and then exits`(signal: Int32) async throws {
        try await withWatchdog {
            let closes = Note<[UInt8]>()
            let server = try RawServer { connection in
                try connection.upgrade()
                try connection.send(.text(#"{"event":"pusher:connection_established","data":{"socket_id":"1.1"}}"#))
                _ = try connection.readFrame()
                try connection.send(.text(#"{"event":"pusher_internal:subscription_succeeded","channel":"news","data":{}}"#))
                var frame = try connection.readFrame()
                while frame.opcode != 8 { frame = try connection.readFrame() }
                closes.send(frame.payload)
                try connection.send(.close(1000))
            }
            let listen = try Command("listen", "news", "--port", String(server.port))
            try await listen.errors.next(containing: "subscribed to news")
            listen.signal(signal)
            #expect(await closes.next()?.prefix(2) == [0x03, 0xE8])
            #expect(await listen.end() == .exit(128 + signal))
            let errors = await listen.errors.toEnd()
            #expect(errors.last?.withoutTime == "stopping", "\(errors)")
        }
    }

    /// The first signal starts a graceful shutdown, which waits for a server that never replies to the close; the second one
    /// skips the wait.
    @Test func `A second signal ends the listen command without waiting for the server's close`() async throws {
        try await withWatchdog {
            let server = try RawServer { connection in
                try connection.upgrade()
                try connection.send(.text(#"{"event":"pusher:connection_established","data":{"socket_id":"1.1"}}"#))
                _ = try connection.readFrame()
                try connection.send(.text(#"{"event":"pusher_internal:subscription_succeeded","channel":"news","data":{}}"#))
                // Reads the close without a reply, until the process ends.
                while true { _ = try connection.readFrame() }
            }
            let listen = try Command("listen", "news", "--port", String(server.port))
            try await listen.errors.next(containing: "subscribed to news")
            listen.signal(SIGINT)
            try await listen.errors.next(containing: "stopping")
            listen.signal(SIGTERM)
            #expect(await listen.end() == .exit(128 + SIGTERM))
        }
    }

    /// Events arrive while nobody reads the output; reading starts only after the signal.
    @Test func `The listen command prints all received events before it exits at a signal`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let pipe = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID().uuidString)").path
            try #require(mkfifo(pipe, 0o600) == 0)
            defer { unlink(pipe) }
            let descriptor = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            let listen = try Command(
                program: "/bin/sh",
                ["-c", "exec \"$0\" listen news --port \"$1\" > \"$2\"", try Command.program(), "\(server.url.port ?? 0)", pipe],
                environment: ["PUSHER_CONFIG": "/dev/null"])
            try await listen.errors.next(containing: "subscribed to news")
            let count = 40
            for number in 1...count {
                server.publish(channel: "news", event: "\(number)", data: String(repeating: "x", count: 4_000))
            }
            // The close arrives after the events, on the same connection.
            server.closeAll(code: 1000, reason: "after the last event")
            try await listen.errors.next(containing: "after the last event")
            listen.signal(SIGINT)
            try await listen.errors.next(containing: "stopping")
            _ = fcntl(descriptor, F_SETFL, 0)
            let lines = await Lines(of: descriptor).toEnd()
            #expect(lines.map { $0.split(separator: " ")[2] } == (1...count).map { "\($0)" })
            #expect(await listen.end() == .exit(128 + SIGINT))
            await server.stop()
        }
    }
}

/// `demo` ended by a signal: its server ends, too.
@Suite(.serialized) struct DemoSignalTests {
    @Test(arguments: [(SIGINT, Command.End.exit(128 + SIGINT)), (SIGTERM, .exit(128 + SIGTERM)), (SIGKILL, .signal(SIGKILL))])
    func `The demo's server ends with the demo, whichever signal ends it`(signal: Int32, end: Command.End) async throws {
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
