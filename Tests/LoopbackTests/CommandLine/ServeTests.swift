#if os(Linux)
import Foundation
import Glibc
import Processes
import Testing
import TestSupport

@testable import TestSupport
@testable import chaos
@testable import pusher_channels

/// `serve`: its end, with few descriptors, and the lines that it prints.
@Suite(.serialized, .watchdog) struct ServeTests {
    @Test func `The serve command ends with status 1 and the reason once it can't accept connections`() async throws {
        // The search for leaks at the end needs a descriptor.
        let (serve, port) = try await Command.server(environment: ["ASAN_OPTIONS": "detect_leaks=0"])
        // The server keeps its descriptors, but there is none for the next connection.
        try ProcessLimit.descriptors.set(3, of: serve.id)
        // On a busy machine the server has ended, with a reset, before the client has connected.
        let client = try? RawClient(port: port)
        #expect(await serve.end() == .exit(1))
        let errors = await serve.errors.toEnd()
        // A build that measures coverage prints another line, as it gets no descriptor either.
        #expect(errors.contains("Error: the server can't listen any more: Too many open files"), "\(errors)")
        withExtendedLifetime(client) {}
    }

    @Test func `The serve command raises the soft limit of descriptors to accept more connections`() async throws {
        let serve = try Command(
            program: "/bin/sh", ["-c", "ulimit -S -n 64; exec \"$0\" serve --port 0", try Command.program()])
        let port = try await serve.listeningPort()
        let clients = try (1...100).map { _ in try RawClient(port: port) }
        let last = try #require(clients.last)
        last.send(Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
        #expect(try await last.reads(12).bytes == Array("HTTP/1.1 200".utf8))
        serve.signal(SIGTERM)
        #expect(await serve.end() == .exit(0))
    }

    /// A shell can send the signal before the signal handling has begun, which happens on another thread.
    @Test func `A signal right after the serve command's first line ends the command with status 0`() async throws {
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

    // MARK: Output

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
        var lines = [delivered.takeLines()]
        areFirst += [isFirst(.channelOccupied, .channelVacated, .channelOccupied), isFirst(.channelVacated, status: 204)]
        areFirst += [isFirst(.channelOccupied)]
        lines += [delivered.takeLines(), delivered.takeLines()]
        #expect(areFirst == [true, true, false, false])
        #expect(
            lines == [
                ["webhook with channel_occupied to http://…@a.example/hook?…: 200"],
                [
                    "2 webhooks with 3 channel_occupied, channel_vacated to http://…@a.example/hook?…: 200",
                    "webhook with channel_vacated to http://…@a.example/hook?…: 204",
                ], [],
            ])
    }

    private static let hostile = [
        "GET /app/%1b]0;PWNED%07%1b[31mred%0aconnection%20999%20subscribed?protocol=7 HTTP/1.1\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
        "GET /\u{1B}[31mred HTTP/1.1\r\n", "G\u{1B}ET / HTTP/1.1\r\n",
    ]

    /// Sends a request, and returns the status in the response.
    private func status(_ request: String, _ port: Int) async throws -> String {
        let client = try RawClient(port: port)
        client.send(Array((request + "Host: 127.0.0.1\r\nContent-Length: 0\r\n\r\n").utf8))
        return String(decoding: try await client.reads(12).bytes.suffix(3), as: UTF8.self)
    }

    /// Neither a client nor a receiver of webhooks can move a terminal's cursor, begin a new line, or learn another's password.
    @Test(arguments: [false, true])
    func `The serve command prints notices, each on its line and without secrets; with --quiet only those of failures`(
        isQuiet: Bool
    ) async throws {
        let receiver = try await LocalServer.start()
        receiver.stub("POST /hook", .http(200))
        let refusing = try RawServer.refusingPort()
        defer { close(refusing.descriptor) }
        let hooks = [
            "http://127.0.0.1:\(receiver.port)/hook", "http://127.0.0.1:\(receiver.port)/no",
            "http://user:s3cretpw@127.0.0.1:\(refusing.port)/hook?token=t0ken",
        ]
        let serve = try Command(
            ["serve", "--port", "0"] + hooks.flatMap { ["--webhook", $0] } + (isQuiet ? ["--quiet", "--no-page"] : []))
        let port = try await serve.listeningPort()
        let address = "http://127.0.0.1:\(port)"
        if !isQuiet { #expect(await serve.output.next() == "live page on \(address)/") }
        #expect(try await status("GET / HTTP/1.1\r\n", port) == (isQuiet ? "404" : "200"))
        // A probe asks every few seconds, and isn't reported.
        #expect(try await HTTPRig().reply(HTTPRig.request("\(address)/up")) == #"200 {"health":"OK"}"#)
        for request in Self.hostile { #expect(try await status(request, port).count == 3) }

        // The server's own endpoint authorizes clients, also for encrypted channels.
        let line = "listen private-encrypted-a --port \(port) --auth-endpoint \(address)/pusher/auth"
        let listen = try Command(line.words)
        try await listen.errors.next(containing: "subscribed to private-encrypted-a")
        let expected = ["127.0.0.1:\(receiver.port)/no: 404", "127.0.0.1:\(refusing.port)/hook"]
        var missing = Set(expected)
        while !missing.isEmpty {
            let line = try await serve.errors.next(containing: "webhook with channel_occupied to ")
            missing = missing.filter { !line.contains($0) }
        }
        listen.signal(SIGINT)
        _ = await listen.end()
        serve.signal(SIGTERM)
        #expect(await serve.end() == .exit(0))

        let errors = await serve.errors.toEnd()
        for line in errors {
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(line.debugDescription)")
            #expect(!line.withoutTime.hasPrefix("connection 999 subscribed") && !line.withoutTime.hasPrefix("no time"))
            let isSecret = line.contains("webhook") && ["user", "s3cretpw", "t0ken"].contains { line.contains($0) }
            #expect(!isSecret && !line.contains("/up"), "\(line)")
        }
        #expect(isQuiet || errors.contains { $0.contains("PWNED") && $0.contains("red") }, "\(errors)")
        #expect(errors.contains { $0.contains(expected[1]) && $0.contains("refused") }, "\(errors)")
        for notice in ["/hook: 200", "subscribed to private-encrypted-a", "stopping"] {
            #expect(errors.contains { $0.contains(notice) } != isQuiet, "\(notice) in \(errors)")
        }
        #expect(await serve.output.toEnd().count == (isQuiet ? 1 : 2))
        await receiver.stop()
    }
}
#endif
