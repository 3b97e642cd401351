#if os(Linux)
import Foundation
import FoundationNetworking
import Glibc
import Processes
import Testing
import TestSupport

@testable import TestSupport
@testable import chaos
@testable import pusher_channels

/// `serve` with few descriptors.
@Suite(.serialized) struct ServeShortageTests {
    @Test func `The serve command ends with status 75 if its port is taken`() async throws {
        try await withWatchdog {
            let holder = try RawServer { _ in }
            let serve = try Command(["serve", "--port", "\(holder.port)"])
            try await serve.errors.next(containing: "can't listen on 127.0.0.1:\(holder.port)")
            #expect(await serve.end() == .exit(75))
            withExtendedLifetime(holder) {}
        }
    }

    @Test func `The serve command ends with status 1 and the reason once it can't accept connections`() async throws {
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
    @Test func `The serve command raises the soft limit of descriptors to accept more connections`() async throws {
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

/// `serve`, ended as soon as it has announced itself.
@Suite(.serialized) struct ServeSignalTests {
    /// A shell can send the signal before the signal handling has begun, which happens on another thread.
    @Test func `A signal right after the serve command's first line ends the command with status 0`() async throws {
        try await withWatchdog {
            let input = try NamedPipe(O_RDWR)
            let script = """
                exec 3<> "$2"
                for round in 1 2 3 4 5 6; do
                    { read -r id <&3; read -r line <&3; kill -TERM $id; } &
                    /bin/sh -c 'echo $$; exec "$0" serve --port 0 --no-page --until-input-ends' "$0" < "$1" > "$2" || exit
                done
                """
            try await withThrowingTaskGroup(of: Command.End?.self) { group in
                for _ in 1...4 {
                    group.addTask {
                        let output = try NamedPipe(O_RDWR)
                        let shell = try Command(
                            program: "/bin/sh", ["-c", script, Command.program(), input.path, output.path],
                            environment: ["PUSHER_CONFIG": "/dev/null"])
                        return await shell.end()
                    }
                }
                for try await end in group { #expect(end == .exit(0)) }
            }
        }
    }
}

/// The lines that `serve` prints about requests of unknown clients.
@Suite(.serialized) struct ServeOutputTests {
    /// A client can't move a terminal's cursor or begin a new line.
    @Test func `The serve command escapes control characters in requests, so each notice stays on its line`() async throws {
        try await withWatchdog {
            let (serve, port) = try await Command.server()
            for request in [
                "GET /app/%1b]0;PWNED%07%1b[31mred%0aconnection%201%20subscribed?protocol=7 HTTP/1.1\r\nUpgrade: websocket\r\n"
                    + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
                "GET /\u{1B}[31mred HTTP/1.1\r\n", "G\u{1B}ET / HTTP/1.1\r\n",
            ] {
                let client = try RawClient(port: port)
                client.send(Array((request + "Host: 127.0.0.1\r\nContent-Length: 0\r\n\r\n").utf8))
                #expect(try await client.reads(1).bytes.count == 1)
            }
            serve.signal(SIGTERM)
            #expect(await serve.end() == .exit(0))
            let errors = await serve.errors.toEnd()
            #expect(errors.contains { $0.contains("PWNED") && $0.contains("red") }, "\(errors)")
            for line in errors {
                #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(line.debugDescription)")
                #expect(!line.withoutTime.hasPrefix("connection 1 subscribed") && !line.contains("no time"))
            }
        }
    }

    /// Failures are told one by one, and what is delivered in sums.
    @Test func `Delivered webhooks are summed up in one line for each status, without the URL's secrets`() {
        var delivered = DeliveredWebhooks()
        func isFirst(_ kinds: WebhookKind..., status: Int = 200) -> Bool {
            let events = kinds.map { WebhookEvent($0, channel: "a") }
            let webhook = ServerMachine.Webhook(
                appKey: "k", url: "http://ann:s3cret@a.example/hook?s3cret", events: events, isInSeconds: false)
            return delivered.add(webhook, status: status)
        }
        var areFirst = [isFirst(.channelOccupied)]
        var lines = delivered.takeLines()
        #expect(lines == ["webhook with channel_occupied to http://…@a.example/hook?…: 200"])
        areFirst += [isFirst(.channelOccupied, .channelVacated, .channelOccupied), isFirst(.channelVacated, status: 204)]
        areFirst += [isFirst(.channelOccupied)]
        lines = delivered.takeLines()
        #expect(
            lines == [
                "2 webhooks with 3 channel_occupied, channel_vacated to http://…@a.example/hook?…: 200",
                "webhook with channel_vacated to http://…@a.example/hook?…: 204",
            ])
        #expect(areFirst == [true, true, false, false])
        lines = delivered.takeLines()
        #expect(lines.isEmpty)
    }

    @Test(arguments: [false, true]) func `The serve command with --quiet still prints failed webhooks, but no other notices`(
        isQuiet: Bool
    ) async throws {
        try await withWatchdog {
            let (hooks, hooksPort) = try await Command.server()
            let receiver = try await LocalServer.start()
            receiver.stub("POST /hook", .http(200))
            let port = try #require(receiver.url.port)
            let serve = try Command(
                [
                    "serve", "--port", "0", "--webhook", "http://127.0.0.1:\(port)/hook", "--webhook",
                    "http://127.0.0.1:\(hooksPort)/no",
                ]
                    + (isQuiet ? ["--quiet"] : []))
            let line = try await serve.output.next(containing: "listening on")
            let servePort = String(try #require(line.split(separator: ":").last))
            let up = try await URLSession.shared.data(from: try #require(URL(string: "http://127.0.0.1:\(servePort)/up")))
            #expect(String(decoding: up.0, as: UTF8.self) == #"{"health":"OK"}"#)
            let listen = try Command("listen", "news", "--port", servePort)
            try await serve.errors.next(containing: "webhook with channel_occupied to http://127.0.0.1:\(hooksPort)/no: 404")
            listen.signal(SIGINT)
            _ = await listen.end()
            serve.signal(SIGTERM)
            #expect(await serve.end() == .exit(0))
            let errors = await serve.errors.toEnd().map(\.withoutTime)
            #expect(errors.contains { $0.hasSuffix("/hook: 200") } != isQuiet, "\(errors)")
            #expect(errors.contains { $0.contains("subscribed to news") } != isQuiet, "\(errors)")
            #expect(errors.contains("stopping") != isQuiet, "\(errors)")
            // A probe asks every few seconds.
            #expect(!errors.contains { $0.contains("/up") }, "\(errors)")
            withExtendedLifetime(hooks) {}
            await receiver.stop()
        }
    }

    @Test func `The serve command prints a failed webhook without the URL's user, password and query`() async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let serve = try Command(
                "serve", "--port", "0", "--webhook", "http://user:s3cretpw@127.0.0.1:\(refusing.port)/hook?token=t0ken")
            let line = try await serve.output.next(containing: "listening on")
            let listen = try Command("listen", "news", "--port", String(try #require(line.split(separator: ":").last)))
            let failure = try await serve.errors.next(containing: "webhook with channel_occupied to ")
            #expect(failure.contains("127.0.0.1:\(refusing.port)/hook") && failure.contains("refused"), "\(failure)")
            for secret in ["user", "s3cretpw", "t0ken"] { #expect(!failure.contains(secret), "\(failure)") }
            withExtendedLifetime(listen) {}
        }
    }
}
#endif
