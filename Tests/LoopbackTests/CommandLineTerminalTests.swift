#if os(Linux)
import Foundation
import Processes
import Testing
import TestSupport

@testable import pusher_channels

/// Colors and progress, which commands write only to a terminal unless told otherwise.
@Suite(.serialized) struct CommandLineTerminalTests {
    private static let terminal = ["TERM": "xterm", "NO_COLOR": "", "FORCE_COLOR": ""]

    @Test(arguments: [
        (true, ["TERM": "xterm"], true, true), (true, ["TERM": "dumb"], false, false), (true, [:], false, false),
        (true, ["TERM": "xterm", "NO_COLOR": "1"], true, false), (true, ["TERM": "xterm", "NO_COLOR": ""], true, true),
        (false, ["TERM": "xterm"], false, false), (false, ["FORCE_COLOR": "1"], false, true),
        (false, ["FORCE_COLOR": ""], false, false),
    ])
    func variablesDecide(isTerminal: Bool, variables: [String: String], canErase: Bool, hasColors: Bool) {
        let traits = TerminalTraits(isTerminal: isTerminal, variables: variables)
        #expect(traits.canErase == canErase)
        #expect(traits.hasColors == hasColors)
        #expect(traits.paint("text", .red) == (hasColors ? "\u{1B}[31mtext\u{1B}[0m" : "text"))
        #expect(traits.paint("text", nil) == "text")
    }

    /// The text is the same with and without colors.
    @Test(arguments: [
        (true, [:], true), (true, ["NO_COLOR": "1"], false), (true, ["TERM": "dumb"], false), (false, [:], false),
        (false, ["FORCE_COLOR": "1"], true),
    ])
    func doctorHasColorsOnATerminal(onTerminal: Bool, variables: [String: String], isColored: Bool) async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let doctor = try Command(
                ["doctor", "127.0.0.1", "--port", String(refusing.port)], environment: Self.terminal.merging(variables) { $1 },
                onTerminal: onTerminal)
            #expect(await doctor.end() == .exit(75))
            let output = await doctor.output.toEnd()
            let ok = isColored ? "\u{1B}[32mok             \u{1B}[0m" : "ok             "
            let failed = isColored ? "\u{1B}[31mFAILED         \u{1B}[0m" : "FAILED         "
            #expect(output.first == ok + "options        can be used", "\(output)")
            #expect(output.contains { $0.hasPrefix(failed + "tcp            127.0.0.1:") }, "\(output)")
            #expect(isColored || !output.contains { $0.contains("\u{1B}") })
        }
    }

    @Test(arguments: [true, false])
    func listenHasColorsOnATerminal(onTerminal: Bool) async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try Command(
                ["listen", "news", "--count", "1", "--port", "\(server.url.port ?? 0)"], environment: Self.terminal,
                onTerminal: onTerminal)
            try await listen.errors.next(containing: "subscribed to news")
            server.publish(channel: "news", event: "n", data: "\u{1B}[31mred")
            #expect(await listen.end() == .exit(0))
            #expect(
                await listen.errors.toEnd().map(\.withoutTime).contains(onTerminal ? "\u{1B}[32mconnected\u{1B}[0m" : "connected")
            )
            #expect(await listen.output.toEnd().map(\.withoutTime) == [#"news n \u{1b}[31mred"#])
            await server.stop()
        }
    }

    @Test(arguments: [true, false])
    func benchSaysHowFarItIsOnATerminal(onTerminal: Bool) async throws {
        try await withWatchdog {
            let subscribed = Note<Void>()
            let settings = LocalServer.Settings(onEvent: { event in
                if case .notice(.subscribed) = event { subscribed.send(()) }
            })
            let server = try await LocalServer.start(settings: settings)
            let bench = try Command(
                ["bench", "--port", "\(server.url.port ?? 0)", "--json"], environment: Self.terminal, onTerminal: onTerminal)
            await subscribed.next()
            server.publish(channel: "bench", event: "tick", data: "{}")
            server.publish(channel: "bench", event: "done", data: "{}")
            #expect(await bench.end() == .exit(0))
            #expect(await bench.output.toEnd().first?.hasPrefix(#"{"events":1,"#) == true)
            let errors = await bench.errors.toEnd().joined()
            guard onTerminal else { return #expect(!errors.contains("\u{1B}")) }
            #expect(
                errors.contains("\u{1B}[Kconnecting") || errors.contains("\u{1B}[K0 events tick"),
                "\(errors.debugDescription)")
            #expect(errors.hasSuffix("\u{1B}[K"), "\(errors.debugDescription)")
            await server.stop()
        }
    }
}
#endif
