#if os(Linux)
import ArgumentParser
import Foundation
import Glibc
import Processes
import PusherChannels
@testable import pusher_channels
import Testing
@testable import TestSupport

/// The commands as a user runs them: processes, exit statuses and output.
@Suite(.serialized, .watchdog) struct CommandLineTests {
    @Test func `The --version option prints the library's version`() async throws {
        #expect(try await Command.run("--version") == Command.Run(output: [libraryVersion]))
    }

    @Test(arguments: ["help listen", "help trigger", "help auth", "help webhook", "--experimental-dump-help"])
    func `The help shows no secret from the environment`(line: String) async throws {
        let secrets = ["PUSHER_SECRET": "s3cret", "PUSHER_ENCRYPTION_MASTER_KEY": "s3cret"]
        let run = try await Command.run(line, environment: secrets)
        #expect(run.end == .exit(0))
        #expect(!run.output.isEmpty && !run.output.contains { $0.contains("s3cret") })
    }

    @Test(arguments: ["auth sign private-a --socket-id 1.2", "--help"])
    func `A command whose output can't be written says so and fails`(line: String) async throws {
        let run = try await Command.Run(Command.inShell(line, ">/dev/full"))
        #expect(run.failed(1, "the output can't be written: ") && run.errors.count == 1, "\(run)")
    }

    @Test func `An argument that isn't UTF-8 is refused rather than published as another text`() async throws {
        let run = try await Command.Run(Command.inShell("trigger a e", #""$(printf '\377')""#))
        #expect(run.end == .exit(64) && run.errors.first == "Error: argument 4 isn't UTF-8", "\(run)")
    }

    /// Only a port that is taken may be free at the next attempt.
    @Test(arguments: [(EADDRINUSE, 75), (EACCES, 1)] as [(Int32, Int32)])
    func `A server that can't listen ends with 75 only if its port is taken`(code: Int32, status: Int32) {
        let reason = "bind: " + String(cString: strerror(code))
        #expect(Status.of(LocalServer.CannotListen(host: "127.0.0.1", port: 80, reason: reason)).rawValue == status)
    }

    /// Scripts can tell a server that is away from a wrong option, whichever command they run.
    @Test(arguments: [
        ("trigger a e d", "the HTTP API could not be asked: "), ("trigger --batch", "the HTTP API could not be asked: "),
        ("channels", "the HTTP API could not be asked: "), ("bench", "the connection ended: "),
    ])
    func `A command that can't reach its server says so in one line, and exits with 75`(line: String, reason: String)
        async throws
    {
        let refusing = try RawServer.refusingPort()
        defer { close(refusing.descriptor) }
        let run = try await Command.run("\(line) --port \(refusing.port)", input: #"{"channel":"a","event":"e"}"#)
        #expect(run.failed(75, reason) && (run.errors.count == 1 || line == "bench"), "\(run)")
    }

    // MARK: Demo

    @Test func `The demo performs all of its 11 steps through the address of --front`() async throws {
        let port = try RawServer.refusingPort()
        let front = try NetworkFaultProxy.start(to: "127.0.0.1", port: port.port, tls: .throwaway)
        let file = try #require(front.certificateAuthority).file().path
        close(port.descriptor)
        let line = "demo --front 127.0.0.1:\(front.port) --server-port \(port.port) --tls --ca-file"
        let demo = try await Command.run(line, file)
        #expect(demo.end == .exit(0) && demo.output.count == 12 && demo.output.last == "all 11 steps happened", "\(demo)")
        #expect(front.connectionCount >= 3)
    }

    @Test func `The demo ends with its server's status if the server can't listen`() async throws {
        let holder = try RawServer { _ in }
        let demo = try await Command.run("demo --server-port \(holder.port)")
        let reason = "the server didn't begin to listen on port \(holder.port): it ended with 75"
        #expect(demo.failed(75, "step 1, ", reason), "\(demo)")
        withExtendedLifetime(holder) {}
    }

    @Test func `The demo names the step at which a connection fails, and the cause`() async throws {
        let refusing = try RawServer.refusingPort()
        defer { close(refusing.descriptor) }
        let demo = try await Command.run("demo --proxy http://127.0.0.1:\(refusing.port)")
        #expect(demo.end == .exit(75))
        let error = demo.errors.last { $0.hasPrefix("Error: ") }
        #expect(error?.hasPrefix("Error: step 2, ann and bob connect: ") == true, "\(demo.errors)")
        #expect(error?.contains("Proxy 127.0.0.1:\(refusing.port)") == true, "\(demo.errors)")
        #expect(!demo.errors.contains { $0.contains("nothing refers to the client") }, "\(demo.errors)")
    }

    @Test(arguments: [(SIGINT, Command.End.exit(128 + SIGINT)), (SIGKILL, .signal(SIGKILL))])
    func `The demo's server ends with the demo, whichever signal ends it`(signal: Int32, end: Command.End) async throws {
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
#endif
