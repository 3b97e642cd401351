#if os(Linux)
import ArgumentParser
import Foundation
import Processes
@testable import pusher_channels
import PusherChannels
import Testing
import TestSupport

/// The options and the output of commands, tested without a process.
@Suite struct CommandLineOptionsTests {
    /// Returns what is wrong with the options of `serve`; nil if they can be used.
    private func problem(_ arguments: [String]) -> String? {
        do {
            _ = try Serve.parse(arguments)
            return nil
        } catch {
            return Serve.message(for: error)
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080/hook", true), ("https://a.example", true), ("HTTP://a.example", true),
        ("httpx://a.example", false), ("ftp://a.example", false), ("a.example", false), ("", false),
    ])
    func `The --webhook option takes only addresses that begin with http:// or https://`(address: String, isTaken: Bool) {
        let problem = problem(["--webhook", address])
        #expect(problem == (isTaken ? nil : "--webhook takes an address that begins with http:// or https://"))
    }

    @Test(arguments: ["", "abc", "AAAA"])
    func `The --encryption-master-key option refuses a value that isn't 32 bytes in base64`(key: String) {
        #expect(problem(["--encryption-master-key", key]) == "--encryption-master-key takes 32 bytes in base64")
    }

    /// Between tokens, an escape would make the JSON invalid; within strings, it means the same character.
    @Test(arguments: [
        ("{\r\n\t\"a\": 1\n}", "{   \"a\": 1 }"),
        ("{\"a\":\"\u{7F}\u{9B}\u{202E}\u{E9}\"}", #"{"a":"\u007f\u009b\u202eé"}"#),
        ("{\"\u{200E}\":\"\u{E0041}\"}", #"{"\u200e":"\udb40\udc41"}"#),
        (#"{"a":"\n"}"#, #"{"a":"\n"}"#),
    ])
    func `JSON that is escaped for a terminal still means the same`(json: String, line: String) throws {
        #expect(json.asSafeJSON == line)
        #expect(try JSONValue(parsing: json.asSafeJSON) == JSONValue(parsing: json))
    }
}

/// Colors and progress, which commands write only to a terminal unless told otherwise.
@Suite(.serialized) struct CommandLineTerminalTests {
    private static let terminal = ["TERM": "xterm", "NO_COLOR": "", "FORCE_COLOR": ""]

    @Test(arguments: [
        (true, ["TERM": "xterm"], true, true), (true, ["TERM": "dumb"], false, false), (true, [:], false, false),
        (true, ["TERM": "xterm", "NO_COLOR": "1"], true, false), (true, ["TERM": "xterm", "NO_COLOR": ""], true, true),
        (false, ["TERM": "xterm"], false, false), (false, ["FORCE_COLOR": "1"], false, true),
        (false, ["FORCE_COLOR": ""], false, false),
    ])
    func `Colors in a command's output depend on the terminal, TERM, NO_COLOR, and FORCE_COLOR`(
        isTerminal: Bool, variables: [String: String], canErase: Bool, hasColors: Bool
    ) {
        let traits = TerminalTraits(isTerminal: isTerminal, variables: variables)
        #expect(traits.canErase == canErase)
        #expect(traits.hasColors == hasColors)
        #expect(traits.paint("text", .red) == (hasColors ? "\u{1B}[31mtext\u{1B}[0m" : "text"))
        #expect(traits.paint("text", nil) == "text")
    }

    /// The text is the same with and without colors.
    @Test(arguments: [true, false])
    func `The doctor's lines have colors only on a terminal, with advice below the failed step`(isColored: Bool) async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let doctor = try Command(
                ["doctor", "127.0.0.1", "--port", String(refusing.port)], environment: Self.terminal, onTerminal: isColored)
            #expect(await doctor.end() == .exit(75))
            let output = await doctor.output.toEnd()
            let ok = isColored ? "\u{1B}[32mok             \u{1B}[0m" : "ok             "
            let failed = isColored ? "\u{1B}[31mFAILED         \u{1B}[0m" : "FAILED         "
            #expect(output.first == ok + "options        are valid", "\(output)")
            let place = try #require(output.firstIndex { $0.hasPrefix(failed + "tcp            127.0.0.1:") }, "\(output)")
            #expect(output[place].wholeMatch(of: #/.*, after \d+\.\d ms/#) != nil, "\(output)")
            #expect(output.dropFirst(place + 1).first?.contains("Check that the server is running") == true, "\(output)")
            #expect(isColored || !output.contains { $0.contains("\u{1B}") })
        }
    }

    @Test(arguments: [true, false])
    func `The listen command colors its status lines only on a terminal`(onTerminal: Bool) async throws {
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
    func `The bench command shows its progress only on a terminal`(onTerminal: Bool) async throws {
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

/// The commands' options for the route to the server: proxies and TLS.
@Suite(.serialized) struct CommandLineRouteTests {
    @Test func `The listen command connects through the proxy of --proxy, with its credentials`() async throws {
        try await withWatchdog {
            let requests = Note<String>()
            let proxy = try RawServer { connection in
                requests.send(try connection.readRequest())
                try connection.send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            }
            let listen = try Command(
                "listen", "news", "--host", "channels.invalid", "--port", "6001", "--proxy",
                "http://ann:s%3Acret@127.0.0.1:\(proxy.port)")
            try await listen.errors.next(containing: "HTTP 407 (it doesn't take the credentials)")
            let request = try #require(await requests.next())
            #expect(request.hasPrefix("CONNECT channels.invalid:6001 HTTP/1.1\r\n"))
            #expect(request.contains("\r\nProxy-Authorization: Basic \(Data("ann:s:cret".utf8).base64EncodedString())\r\n"))
            #expect(!listen.errors.all.contains { $0.contains("cret") }, "\(listen.errors.all)")
        }
    }

    @Test func `The listen command trusts the certificate authority of --ca-file`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(tls: .throwaway)
            let file = try #require(server.certificateAuthority).file().path
            let arguments = ["listen", "news", "--tls", "--port", String(try #require(server.url.port))]
            let distrusting = try Command(arguments)
            try await distrusting.errors.next(containing: "certificate")
            let trusting = try Command(arguments + ["--ca-file", file])
            try await trusting.errors.next(containing: "subscribed to news")
            await server.stop()
        }
    }

    /// The message doesn't repeat the value, which may contain a password.
    @Test(arguments: ["socks5://ann:s3cret@127.0.0.1:1080", "ann:s3cret@127.0.0.1:port"])
    func `A --proxy that isn't an HTTP proxy's address is refused without repeating its password`(proxy: String) async throws {
        try await withWatchdog {
            let listen = try Command("listen", "news", "--proxy", proxy)
            #expect(await listen.end() == .exit(64))
            let errors = await listen.errors.toEnd()
            #expect(errors.first == "Error: --proxy takes none, or http://user:password@host:port", "\(errors)")
            #expect(!errors.contains { $0.contains("s3cret") }, "\(errors)")
        }
    }

    @Test func `The demo's clients reach its server through the address of --front`() async throws {
        try await withWatchdog {
            let port = try RawServer.refusingPort()
            let front = try NetworkFaultProxy.start(to: "127.0.0.1", port: port.port, tls: .throwaway)
            let file = try #require(front.certificateAuthority).file().path
            close(port.descriptor)
            let demo = try Command(
                "demo", "--front", "127.0.0.1:\(front.port)", "--server-port", String(port.port), "--tls", "--ca-file", file)
            #expect(await demo.end() == .exit(0), "\(demo.errors.all)")
            #expect(await demo.output.toEnd().last == "all 11 steps happened")
            #expect(front.connectionCount >= 3)
        }
    }

    @Test func `The demo names the step at which a connection fails, and the cause`() async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let demo = try Command("demo", "--proxy", "http://127.0.0.1:\(refusing.port)")
            #expect(await demo.end() == .exit(75))
            let errors = await demo.errors.toEnd()
            let error = errors.last { $0.hasPrefix("Error: ") }
            #expect(error?.hasPrefix("Error: step 2, ann and bob connect: ") == true, "\(errors)")
            #expect(error?.contains("Proxy 127.0.0.1:\(refusing.port)") == true, "\(errors)")
            #expect(!errors.contains { $0.contains("nothing refers to the client") }, "\(errors)")
        }
    }

    @Test(arguments: [
        ["--tls"], ["--front", "127.0.0.1:8080"], ["--front", "127.0.0.1", "--server-port", "6001"],
        ["--front", ":80", "--server-port", "6001"], ["--front", "[::1]:65536", "--server-port", "6001"],
    ])
    func `The demo refuses unusable options with status 64`(arguments: [String]) async throws {
        try await withWatchdog {
            let demo = try Command(["demo"] + arguments)
            #expect(await demo.end() == .exit(64))
        }
    }
}
#endif
