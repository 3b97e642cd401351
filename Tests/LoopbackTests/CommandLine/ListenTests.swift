#if os(Linux)
import Foundation
import Processes
import PusherChannels
import Testing
import TestSupport

/// The output of `listen`, and the ways in which it ends.
@Suite(.serialized) struct ListenTests {
    private func listen(_ server: LocalServer, _ arguments: String...) throws -> Command {
        try Command(["listen"] + arguments + ["--port", String(try #require(server.url.port))])
    }

    /// Starts a server whose authorization endpoint replies with a status once, and then authorizes every client.
    private func server(status: Int) async throws -> LocalServer {
        let server = try await LocalServer.start()
        let asked = Locked(0)
        server.router.on("/auth") { request in
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { return StubResponse(status: status, text: "not now") }
            let signature = try Signature.channel(
                request.form["channel_name"] ?? "", socketID: request.form["socket_id"] ?? "", key: "local-key",
                secret: "local-secret")
            return StubResponse(text: #"{"auth":"\#(signature)"}"#, contentType: "application/json")
        }
        return server
    }

    @Test func `The listen command goes on after a failed authorization that is retried`() async throws {
        try await withWatchdog {
            let server = try await server(status: 503)
            let listen = try listen(server, "private-a", "--auth-endpoint", "\(server.url)/auth")
            try await listen.errors.next(containing: "; it is tried again")
            try await listen.errors.next(containing: "subscribed to private-a")
            await server.stop()
        }
    }

    @Test func `The listen command ends with status 1 if the authorization endpoint refuses a channel`() async throws {
        try await withWatchdog {
            let server = try await server(status: 403)
            let listen = try listen(server, "private-a", "--auth-endpoint", "\(server.url)/auth")
            #expect(await listen.end() == .exit(1))
            let errors = await listen.errors.toEnd()
            #expect(errors.count == 3 && errors.prefix(2).map(\.withoutTime) == ["connecting", "connected"], "\(errors)")
            #expect(errors.last?.hasPrefix("Error: can't subscribe to private-a: ") == true, "\(errors)")
            #expect(!errors.contains { $0.contains("nothing refers to") }, "\(errors)")
            await server.stop()
        }
    }

    @Test func `The listen command ends with status 1 and points to doctor if the server refuses the key`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try listen(server, "news", "--key", "another")
            #expect(await listen.end() == .exit(1))
            let errors = await listen.errors.toEnd()
            let last = "Error: can't go on: App key another not in this cluster"
            #expect(errors.last?.hasPrefix(last) == true, "\(errors)")
            #expect(
                errors.last?.hasSuffix("; pusher-channels doctor, with the same options, says what to do") == true, "\(errors)")
            await server.stop()
        }
    }

    /// The advice is printed once, and not if a server that was there goes away.
    @Test func `The listen command gives advice once if no server is there, and keeps trying`() async throws {
        try await withWatchdog {
            let (port, descriptor) = try RawServer.refusingPort()
            defer { close(descriptor) }
            let listen = try Command("listen", "news", "--port", String(port), "--max-delay", "0.05")
            try await listen.errors.next(containing: "reconnecting")
            let advice = await listen.errors.next()
            #expect(
                advice?.contains("pusher-channels doctor") == true && advice?.contains("pusher-channels serve") == true,
                "\(advice ?? "")")
            try await listen.errors.next(containing: "reconnecting")
            listen.signal(SIGTERM)
            #expect(await listen.end() == .exit(128 + SIGTERM))
            #expect(await listen.errors.toEnd().count { $0.contains("doctor") } == 1)
        }
    }

    /// A publisher can't move a terminal's cursor or begin a new line.
    @Test(arguments: [false, true])
    func `The listen command escapes control characters, so each event stays on its line`(json: Bool) async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try listen(
                server, "news", "--count", "1", json ? "--json" : "--event", json ? "--max-delay=1" : "n\u{1B}")
            try await listen.errors.next(containing: "subscribed to news")
            let data = "one\ntwo\u{1B}[2J\u{9B}31m\u{202E}\u{7F}é"
            server.publish(channel: "news", event: "n\u{1B}", data: data)
            #expect(await listen.end() == .exit(0))
            let output = await listen.output.toEnd()
            #expect(output.count == 1)
            let line = try #require(output.first.map { json ? $0 : $0.withoutTime })
            let isSafe = line.unicodeScalars.allSatisfy(\.isForLogLines)
            #expect(isSafe, "\(line.debugDescription)")
            guard json else { return #expect(line == #"news n\u{1b} one\u{a}two\u{1b}[2J\u{9b}31m\u{202e}\u{7f}é"#) }
            let value = try JSONValue(parsing: line)
            #expect(value["data"]?.stringValue == data)
            await server.stop()
        }
    }

    /// A program gets the time with its zone, and members only if it asks for them: `trigger --batch` reads the lines, too.
    @Test func `The listen command names members who join and leave, and prints them as JSON on request`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let ann = try listen(server, "presence-a", "--user-id", "ann")
            try await ann.errors.next(containing: "subscribed to presence-a, with members: 1")
            let json = try listen(
                server, "presence-a", "--user-id", "eve", "--json", "--event", "pusher:member_added", "--count", "1")
            try await json.errors.next(containing: "subscribed to presence-a, with members: 2")
            #expect(await ann.errors.next()?.withoutTime == "eve joined presence-a")
            let bob = try listen(server, "presence-a", "--user-id", "b\u{1B}ob")
            #expect(await ann.errors.next()?.withoutTime == #"b\u{1b}ob joined presence-a"#)
            bob.signal(SIGINT)
            #expect(await json.end() == .exit(0))
            let line = try JSONValue(parsing: await json.output.toEnd().joined())
            #expect(line["event"] == "pusher:member_added")
            let time = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(line["time"]?.stringValue ?? "")
            #expect(abs(time.timeIntervalSinceNow) < 3600)
            try await ann.errors.next(containing: #"b\u{1b}ob left presence-a"#)
            ann.signal(SIGINT)
            _ = await ann.end()
            #expect(await ann.output.toEnd() == [])
            await server.stop()
        }
    }

    @Test func `The listen command with --verbose logs messages sent and received, without signatures`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try listen(server, "private-a", "--count", "1", "--verbose")
            // The log has a queue of its own: what was sent before may be written after this line.
            try await listen.errors.next(containing: "subscribed to private-a")
            server.publish(channel: "private-a", event: "n", data: "text")
            #expect(await listen.end() == .exit(0))
            let errors = await listen.errors.toEnd()
            let messages = errors.map(\.withoutTime).filter { $0.hasPrefix("trace message received ") }
            #expect(messages.contains { $0.contains("connection_established") } && messages.contains { $0.contains("text") })
            #expect(
                errors.contains { $0.contains("trace message sent") && $0.contains("pusher:subscribe") }
                    && !errors.contains { $0.contains("no time") }, "\(errors)")
            #expect(!errors.contains { $0.contains(#/[0-9a-f]{64}/#) }, "\(errors)")
            await server.stop()
        }
    }

    @Test func `The listen command prints the server's reason for a normal close, and reconnects`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try listen(server, "news")
            try await listen.errors.next(containing: "subscribed to news")
            server.closeAll(code: 1000, reason: "tidying up")
            try await listen.errors.next(containing: "reconnecting: the server closed the connection: tidying up (code 1000)")
            try await listen.errors.next(containing: "subscribed to news")
            await server.stop()
        }
    }

    @Test func `The listen command keeps trying while a server is closing, and subscribes again afterwards`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(profile: .soketi)
            let listen = try listen(server, "news", "--max-delay", "0.05")
            try await listen.errors.next(containing: "subscribed to news")
            server.isClosing = true
            server.closeAll(code: 4200)
            try await listen.errors.next(containing: "Server is closing. Please reconnect shortly.")
            server.isClosing = false
            try await listen.errors.next(containing: "subscribed to news")
            await server.stop()
        }
    }

    @Test func `The listen command decrypts events with the master key of its options`() async throws {
        try await withWatchdog {
            let key = Data(repeating: 7, count: 32).base64EncodedString()
            let app = ServerApp(id: "1", key: "local-key", secret: "local-secret", encryptionMasterKey: key)
            let server = try await LocalServer.start(apps: [app])
            let listen = try listen(
                server, "private-encrypted-a", "--secret", "local-secret", "--encryption-master-key", key, "--count", "1")
            try await listen.errors.next(containing: "subscribed to private-encrypted-a")
            server.publish(channel: "private-encrypted-a", event: "n", data: "hidden")
            #expect(await listen.end() == .exit(0))
            #expect(await listen.output.toEnd().map(\.withoutTime) == ["private-encrypted-a n hidden"])
            await server.stop()
        }
    }

    /// A retry can't succeed, so the command ends at once.
    @Test(arguments: [
        (["--port", "70000"], Int32(64), "--port takes a number from 1 to 65535"), (["--port=-1"], 64, "--port takes"),
        (["--host", "http://127.0.0.1"], 64, "--host takes only a name or an address"), (["--host", ""], 64, "--host takes"),
        (["--host", "127.0.0.1:6001"], 64, "use --port for the port"),
        (["--tls", "--ca-file", "/nowhere/roots.pem"], 64, "/nowhere/roots.pem"),
    ])
    func `The listen command ends with status 64 if an option's value can't be used`(
        arguments: [String], status: Int32, reason: String
    ) async throws {
        try await withWatchdog {
            let listen = try Command(["listen", "news"] + arguments)
            #expect(await listen.end() == .exit(status))
            let errors = await listen.errors.toEnd()
            #expect(errors.contains { $0.hasPrefix("Error: ") && $0.contains(reason) }, "\(errors)")
            #expect(!errors.contains { $0.contains("reconnecting") }, "\(errors)")
        }
    }

    /// As with the secret, no option is needed: `serve` has both by default.
    @Test func `The listen command needs no master key for encrypted channels of the local server's app`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try listen(server, "private-encrypted-a", "--count", "1")
            try await listen.errors.next(containing: "subscribed to private-encrypted-a")
            server.publish(channel: "private-encrypted-a", event: "n", data: "hidden")
            #expect(await listen.end() == .exit(0))
            #expect(await listen.output.toEnd().map(\.withoutTime) == ["private-encrypted-a n hidden"])
            await server.stop()
        }
    }

    /// The errors name the command's options, and don't repeat any secret.
    @Test(arguments: [
        (["private-a", "--key", "k"], "private-a requires --secret or --auth-endpoint"),
        (["presence-a", "--key", "k"], "presence-a requires --secret or --auth-endpoint"),
        (
            ["private-encrypted-a", "--secret", "s3cret"],
            "private-encrypted-a requires --encryption-master-key beside --secret, or --auth-endpoint"
        ),
        (["a", "--key", "k", "--encryption-master-key", "s3cret"], "--encryption-master-key requires --secret"),
        (["a", "--key", "k", "--user-id", "ann"], "--user-id requires --secret"),
        (["a", "--secret", "x", "--encryption-master-key", "s3cret"], "--encryption-master-key takes 32 bytes in base64"),
        (["a", "--auth-endpoint", "s3cret"], "--auth-endpoint takes an address that begins with http:// or https://"),
    ])
    func `The listen command names a missing or invalid option, and repeats no secret`(arguments: [String], problem: String)
        async throws
    {
        try await withWatchdog {
            let listen = try Command(["listen"] + arguments)
            #expect(await listen.end() == .exit(64))
            let errors = await listen.errors.toEnd()
            #expect(errors.first == "Error: \(problem)")
            #expect(!errors.contains { $0.contains("s3cret") })
        }
    }
}
#endif
