#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// The commands as a user runs them: processes, signals, exit statuses and output.
@Suite(.serialized) struct CommandLineTests {
    private func line(_ text: String?) throws -> [String: String?] {
        try JSONDecoder().decode([String: String?].self, from: Data((text ?? "").utf8))
    }

    @Test func `The listen command prints an event as one JSON object and exits after --count events`() async throws {
        try await withWatchdog {
            let server = try await Command.server()
            let port = String(server.port)
            let listen = try Command("listen", "news", "--count", "1", "--json", "--port", port)
            try await listen.errors.next(containing: "subscribed to news")
            let data = #"{"price":1.5,"note":"a\\b/ü"}"#
            let trigger = try Command("trigger", "news", "headline", data, "--port", port)
            #expect(await trigger.end() == .exit(0))
            #expect(await listen.end() == .exit(0))
            let output = await listen.output.toEnd()
            #expect(output.count == 1)
            var object = try line(output.first)
            #expect(object.removeValue(forKey: "time") != nil)
            #expect(object == ["channel": "news", "event": "headline", "data": data])
        }
    }

    /// Servers and other clients compare names the same way: the first event's name is the same text in another normal form.
    @Test func `The listen command compares event names by their bytes`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try Command(["listen", "news", "--count", "1", "--event", "\u{E9}"], environment: server.environment)
            try await listen.errors.next(containing: "subscribed to news")
            server.publish(channel: "news", event: "e\u{301}", data: "another")
            server.publish(channel: "news", event: "\u{E9}", data: "meant")
            #expect(await listen.end() == .exit(0))
            #expect(await listen.output.toEnd().map(\.withoutTime) == ["news \u{E9} meant"])
            await server.stop()
        }
    }

    @Test(arguments: [
        (["news", "--key", "wrong"], 1, "4001"),
        (["private-orders", "--secret", "wrong"], 1, "can't subscribe to private-orders"),
        (["no such channel"], 64, "can't subscribe to no such channel"),
    ])
    func `The listen command exits if its key, secret, or channel name is refused`(
        arguments: [String], status: Int32, reason: String
    ) async throws {
        try await withWatchdog {
            let server = try await Command.server()
            let listen = try Command(["listen", "--port", String(server.port)] + arguments)
            #expect(await listen.end() == .exit(status))
            let errors = await listen.errors.toEnd()
            #expect(errors.contains { $0.contains(reason) }, "\(errors)")
            // The log writes to the same stream, from another thread.
            #expect(errors.contains { $0.hasPrefix("Error: ") }, "\(errors)")
            #expect(await listen.output.toEnd() == [])
        }
    }

    @Test func `The listen command retries until a server listens on the port`() async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            let listen = try Command("listen", "news", "--port", String(refusing.port))
            try await listen.errors.next(containing: "connection refused")
            try await listen.errors.next(containing: "reconnecting")
            close(refusing.descriptor)
            let server = try await Command.server(port: refusing.port)
            try await listen.errors.next(containing: "subscribed to news")
            withExtendedLifetime(server) {}
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `The serve command exits with 0 at a signal, and its clients reconnect`(signal: Int32) async throws {
        try await withWatchdog {
            let (server, port) = try await Command.server()
            let listen = try Command("listen", "news", "--port", String(port))
            try await listen.errors.next(containing: "subscribed to news")
            server.signal(signal)
            #expect(await server.end() == .exit(0))
            try await listen.errors.next(containing: "reconnecting")
        }
    }

    /// The first signal starts a graceful shutdown, which waits for a client that doesn't reply; the second one skips the wait.
    @Test func `A second signal ends the serve command without waiting for its clients`() async throws {
        try await withWatchdog {
            let (server, port) = try await Command.server()
            let listen = try Command("listen", "news", "--port", String(port))
            try await listen.errors.next(containing: "subscribed to news")
            listen.signal(SIGSTOP)
            // The server receives both signals when it resumes, so it can't end after the first one alone.
            server.signal(SIGSTOP)
            server.signal(SIGINT)
            server.signal(SIGTERM)
            server.signal(SIGCONT)
            let end = await server.end()
            #expect(end == .exit(128 + SIGINT) || end == .exit(128 + SIGTERM), "\(String(describing: end))")
        }
    }

    @Test func `The --version option prints the library's version`() async throws {
        try await withWatchdog {
            let command = try Command("--version")
            #expect(await command.end() == .exit(0))
            #expect(await command.output.toEnd() == [libraryVersion])
        }
    }

    @Test(arguments: [("bash", "_pusher"), ("zsh", "#compdef pusher-channels"), ("fish", "complete -c 'pusher-channels'")])
    func `The completion scripts for bash, zsh, and fish name commands and options' values`(shell: String, line: String)
        async throws
    {
        try await withWatchdog {
            let command = try Command("--generate-completion-script", shell)
            #expect(await command.end() == .exit(0))
            let output = await command.output.toEnd()
            #expect(output.contains { $0.contains(line) } && output.contains { $0.contains("doctor") })
            // In a help, commas are between the values.
            let text = output.joined(separator: "\n")
            #expect(text.contains(#/hosted[^,\w]+n?[^,\w]*reverb/#) && text.contains("sa1"))
            #expect(text.contains(#/user_count[^,\w]+n?[^,\w]*subscription_count/#))
        }
    }

    @Test(arguments: [
        ["--profile", "nobody"], ["--encryption-master-key", "short"], ["--allow-host", "http://dev.example"],
        ["--allow-host", "dev.example:6001"], ["--allow-any-host", "--allow-host", "dev.example"],
    ])
    func `The serve command refuses unusable options with status 64`(arguments: [String]) async throws {
        try await withWatchdog {
            let serve = try Command(["serve", "--port", "0"] + arguments)
            #expect(await serve.end() == .exit(64))
            #expect(await serve.output.toEnd() == [])
        }
    }

    @Test func `The serve command lists the profiles if it doesn't know the given one`() async throws {
        try await withWatchdog {
            let serve = try Command("serve", "--port", "0", "--profile", "sokketi")
            #expect(await serve.end() == .exit(64))
            let errors = await serve.errors.toEnd()
            #expect(errors.first?.contains("no profile sokketi; the profiles are hosted, reverb, soketi, ") == true, "\(errors)")
        }
    }

    @Test func `The serve command's own endpoint authorizes clients for encrypted channels`() async throws {
        try await withWatchdog {
            let serve = try Command("serve", "--port", "0")
            let line = try await serve.output.next(containing: "listening on ")
            let address = try #require(line.split(separator: " ").last)
            let port = try #require(address.split(separator: ":").last)
            let listen = try Command(
                "listen", "private-encrypted-orders", "--port", String(port), "--auth-endpoint", "\(address)/pusher/auth")
            try await listen.errors.next(containing: "subscribed to private-encrypted-orders")
            listen.signal(SIGINT)
            _ = await listen.end()
            serve.signal(SIGINT)
            _ = await serve.end()
        }
    }

    @Test func `The demo performs all of its 11 steps and exits with 0`() async throws {
        try await withWatchdog {
            let demo = try Command("demo")
            #expect(await demo.end() == .exit(0))
            let output = await demo.output.toEnd()
            #expect(output.last == "all 11 steps happened", "\(output + demo.errors.all)")
            #expect(output.count == 12)
        }
    }

    @Test func `The trigger command takes its server and app from the environment`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(apps: [ServerApp(id: "7", key: "k", secret: "s")])
            let trigger = try Command(["trigger", "news", "headline", "{}"], environment: server.environment)
            #expect(await trigger.end() == .exit(0))
            #expect(server.requests.map(\.path) == ["/apps/7/events"])
            await server.stop()
        }
    }

    @Test func `The trigger command says in one line that it can't reach the HTTP API`() async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let trigger = try Command("trigger", "news", "headline", "{}", "--port", String(refusing.port))
            #expect(await trigger.end() == .exit(75))
            let errors = await trigger.errors.toEnd()
            #expect(errors.count == 1)
            #expect(errors.last?.hasPrefix("Error: the HTTP API could not be asked: ") == true, "\(errors)")
        }
    }

    /// Scripts can tell a server that is away from a wrong option, whichever command they run.
    @Test(arguments: [
        ["trigger", "a", "e", "d"], ["trigger", "--batch"], ["channels"], ["users", "presence-a"], ["terminate", "ann"],
        ["doctor"], ["bench"],
    ])
    func `A command that can't reach its server exits with 75`(arguments: [String]) async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let input = FileManager.default.temporaryDirectory.appendingPathComponent("event-\(UUID())")
            try Data(#"{"channel":"a","event":"e"}"#.utf8).write(to: input)
            defer { try? FileManager.default.removeItem(at: input) }
            let command = try Command(arguments + ["--port", String(refusing.port)], input: input.path)
            #expect(await command.end() == .exit(75))
        }
    }

    @Test(arguments: [
        ["trigger", "a", "e", "d"], ["channels"], ["users", "presence-a"], ["terminate", "ann"], ["doctor"], ["bench"],
        ["listen", "a"], ["demo"],
    ])
    func `A command exits with 64 if the file of --ca-file can't be used`(arguments: [String]) async throws {
        try await withWatchdog {
            for (file, problem) in [
                ("/nowhere/roots.pem", "Error: --ca-file: /nowhere/roots.pem can't be read"),
                ("/etc/passwd", "Error: --ca-file takes a PEM file: /etc/passwd has no certificate"),
            ] {
                let command = try Command(arguments + ["--ca-file", file])
                #expect(await command.end() == .exit(64))
                #expect(await command.errors.toEnd().first == problem)
            }
        }
    }

    @Test(arguments: [
        [], ["serve"], ["listen"], ["doctor"], ["trigger"], ["channels"], ["users"], ["terminate"], ["auth", "sign"],
        ["webhook", "verify"], ["bench"], ["demo"],
    ])
    func `The help of each command names the exit statuses`(command: [String]) async throws {
        try await withWatchdog {
            let help = try Command(command + ["--help"])
            #expect(await help.end() == .exit(0))
            #expect(await help.output.toEnd().contains { $0.contains("Exit statuses: 0 for success") })
        }
    }

    @Test func `The trigger command refuses an invalid channel name before it asks the server`() async throws {
        try await withWatchdog {
            let trigger = try Command("trigger", "no such channel", "headline", "{}")
            #expect(await trigger.end() == .exit(64))
            let reason = "a channel name can't contain \" \": letters, digits and _ - = @ , . ; are allowed"
            #expect(await trigger.errors.toEnd() == ["Error: \(reason): \"no such channel\""])
        }
    }

    @Test func `The trigger command names the option that an encrypted channel requires`() async throws {
        try await withWatchdog {
            let trigger = try Command("trigger", "private-encrypted-a", "headline", "{}", "--secret", "another")
            #expect(await trigger.end() == .exit(64))
            #expect(await trigger.errors.toEnd().first == "Error: private-encrypted-a requires --encryption-master-key")
        }
    }

    @Test func `The trigger command prints the status with which the server refuses`() async throws {
        try await withWatchdog {
            let server = try await Command.server()
            let trigger = try Command("trigger", "news", "headline", "{}", "--port", String(server.port), "--app-id", "9")
            #expect(await trigger.end() == .exit(1))
            let errors = await trigger.errors.toEnd()
            #expect(errors.count == 1)
            #expect(errors.last?.hasPrefix("Error: the HTTP API answered with status 404: ") == true, "\(errors)")
        }
    }
}
#endif
