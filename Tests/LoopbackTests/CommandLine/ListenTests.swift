#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// The output of `listen`, and the ways in which it ends.
@Suite(.serialized, .watchdog) struct ListenTests {
    /// Starts the command, and waits until it is subscribed to all of its channels.
    private func listen(to channels: String..., at port: Int, _ options: String = "") async throws -> Command {
        let listen = try Command(["listen", "--port", "\(port)"] + channels + options.words)
        for _ in channels { try await listen.errors.next(containing: "subscribed to") }
        return listen
    }

    // MARK: Events

    /// A publisher can't move a terminal's cursor or begin a new line. Servers and other clients compare names by their bytes,
    /// too: the first event's name is the same text as the second one's in another normal form.
    @Test func `The listen command prints each event of the given name, decrypted and escaped, until --count`() async throws {
        try await withServer { server in
            let (name, otherName) = ("\u{E9}\u{1B}", "e\u{301}\u{1B}")
            // No option is needed for encrypted channels: serve's app has a master key.
            let text = try await listen(to: "news", "private-encrypted-a", at: server.port, "--count 2 --event \(name)")
            let json = try await listen(to: "news", at: server.port, "--count 2 --json")
            let (data, otherData) = ("one\ntwo\u{1B}[2J\u{9B}31m\u{202E}\u{7F}é", #"{"price":1.5,"note":"a\\b/ü"}"#)
            server.publish(channel: "news", event: otherName, data: otherData)
            server.publish(channel: "news", event: name, data: data)
            server.publish(channel: "private-encrypted-a", event: name, data: "hidden")

            let lines = try await Command.Run(text)
            #expect(lines.end == .exit(0))
            #expect(
                lines.output.map(\.withoutTime) == [
                    #"news é\u{1b} one\u{a}two\u{1b}[2J\u{9b}31m\u{202e}\u{7f}é"#, #"private-encrypted-a é\u{1b} hidden"#,
                ])
            let objects = try await Command.Run(json)
            #expect(objects.end == .exit(0) && objects.output.count == 2)
            for (line, (event, data)) in zip(objects.output, [(otherName, otherData), (name, data)]) {
                let isSafe = line.unicodeScalars.allSatisfy(\.isForLogLines)
                #expect(isSafe, "\(line.debugDescription)")
                var object = try JSONDecoder().decode([String: String?].self, from: Data(line.utf8))
                #expect(object.removeValue(forKey: "time") != nil)
                #expect(object == ["channel": "news", "event": event, "data": data])
            }
        }
    }

    /// A program gets the time with its zone, and members only if it asks for them: `trigger --batch` reads the lines, too.
    @Test func `The listen command names members who join and leave, and prints them as JSON on request`() async throws {
        try await withServer { server in
            func listen(_ userID: String, _ options: String = "") throws -> Command {
                try Command("listen presence-a --port \(server.port) --user-id \(userID) \(options)".words)
            }
            let ann = try listen("ann")
            try await ann.errors.next(containing: "subscribed to presence-a, with members: 1")
            let json = try listen("eve", "--json --event pusher:member_added --count 1")
            try await json.errors.next(containing: "subscribed to presence-a, with members: 2")
            #expect(await ann.errors.next()?.withoutTime == "eve joined presence-a")
            let bob = try listen("b\u{1B}ob")
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
        }
    }

    @Test func `The listen command with --verbose logs messages sent and received, without signatures`() async throws {
        try await withServer { server in
            let listen = try await listen(to: "private-a", at: server.port, "--count 1 --verbose")
            server.publish(channel: "private-a", event: "n", data: "text")
            let run = try await Command.Run(listen)
            #expect(run.end == .exit(0))
            let lines = run.errors.map(\.withoutTime)
            for (message, text) in [
                ("trace message received ", "connection_established"), ("trace message received ", "text"),
                ("trace message sent", "pusher:subscribe"),
            ] {
                #expect(lines.contains { $0.hasPrefix(message) && $0.contains(text) }, "\(lines)")
            }
            #expect(!lines.contains { $0.contains("no time") || $0.contains(#/[0-9a-f]{64}/#) }, "\(lines)")
        }
    }

    // MARK: Trouble

    @Test func `The listen command goes on after a failed authorization that is retried`() async throws {
        try await withServer { server in
            server.stub("POST /pusher/auth", StubResponse(status: 503, text: "not now")).times(1)
            let listen = try await listen(to: "private-a", at: server.port, "--auth-endpoint \(server.url)/pusher/auth")
            #expect(listen.errors.all.contains { $0.contains("; it is tried again") }, "\(listen.errors.all)")
        }
    }

    /// A retry can't succeed, so the command ends at once.
    @Test(arguments: [
        (["news", "--key", "another"], Int32(1), "can't go on: App key another not in this cluster"),
        (["private-a", "--secret", "wrong"], 1, "can't subscribe to private-a: "),
        (["private-a", "--auth-endpoint", "/refusing"], 1, "can't subscribe to private-a: "),
        (["no such channel"], 64, "can't subscribe to no such channel"),
    ])
    func `The listen command ends with the reason if its key, secret, endpoint, or channel name is refused`(
        arguments: [String], status: Int32, reason: String
    ) async throws {
        try await withServer { server in
            server.stub("POST /refusing", StubResponse(status: 403, text: "not now"))
            let options = arguments.map { $0.hasPrefix("/") ? "\(server.url)\($0)" : $0 }
            let run = try await Command.run(["listen", "--port", String(server.port)] + options)
            #expect(run.failed(status, reason) && run.output == [], "\(run)")
            let advice = "; pusher-channels doctor, with the same options, says what to do"
            #expect(run.errors.last?.hasSuffix(advice) == reason.hasPrefix("can't go on"), "\(run.errors)")
            #expect(!run.errors.contains { $0.contains("nothing refers to") }, "\(run.errors)")
            if arguments.contains("/refusing") {
                #expect(run.errors.dropLast().map(\.withoutTime) == ["connecting", "connected"])
            }
        }
    }

    /// The advice is printed once, and not if a server that was there goes away.
    @Test func `The listen command gives advice once if no server is there, and tries until one is`() async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        let listen = try Command("listen", "news", "--port", String(port), "--max-delay", "0.05")
        try await listen.errors.next(containing: "reconnecting")
        let advice = await listen.errors.next() ?? ""
        #expect(advice.contains("pusher-channels doctor") && advice.contains("pusher-channels serve"), "\(advice)")
        try await listen.errors.next(containing: "reconnecting")
        close(descriptor)
        let server = try await Command.server(port: port).command
        try await listen.errors.next(containing: "subscribed to news")
        server.signal(SIGINT)
        #expect(await server.end() == .exit(0))
        try await listen.errors.next(containing: "reconnecting")
        listen.signal(SIGTERM)
        #expect(await listen.end() == .exit(128 + SIGTERM))
        let errors = await listen.errors.toEnd()
        #expect(errors.contains { $0.contains("connection refused") }, "\(errors)")
        #expect(errors.count { $0.contains("doctor") } == 1, "\(errors)")
    }

    @Test func `The listen command prints why a server closes its connection, and subscribes again`() async throws {
        try await withServer { server in
            let listen = try await listen(to: "news", at: server.port, "--max-delay 0.05")
            server.closeAll(code: 1000, reason: "tidying up")
            try await listen.errors.next(containing: "reconnecting: the server closed the connection: tidying up (code 1000)")
            try await listen.errors.next(containing: "subscribed to news")
        }
    }

    // MARK: Signals

    /// Returns a server for the channel news that calls `body` once the channel is subscribed.
    private func server(_ body: @escaping @Sendable (RawConnection) throws -> Void) throws -> RawServer {
        try RawServer { connection in
            try connection.upgrade()
            try connection.send(.text(#"{"event":"pusher:connection_established","data":{"socket_id":"1.1"}}"#))
            _ = try connection.readFrame()
            try connection.send(.text(#"{"event":"pusher_internal:subscription_succeeded","channel":"news","data":{}}"#))
            try body(connection)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `The listen command closes its connection with 1000 at a signal, and then exits`(signal: Int32) async throws {
        let closes = Note<[UInt8]>()
        let server = try server { connection in
            var frame = try connection.readFrame()
            while frame.opcode != 8 { frame = try connection.readFrame() }
            closes.send(frame.payload)
            try connection.send(.close(1000))
        }
        let listen = try await listen(to: "news", at: server.port)
        listen.signal(signal)
        #expect(await closes.next()?.prefix(2) == [0x03, 0xE8])
        #expect(await listen.end() == .exit(128 + signal))
        let errors = await listen.errors.toEnd()
        #expect(errors.last?.withoutTime == "stopping", "\(errors)")
    }

    /// The first signal starts a graceful shutdown, which waits for a server that never replies to the close; the second one
    /// skips the wait.
    @Test func `A second signal ends the listen command without waiting for the server's close`() async throws {
        // Reads the close without a reply, until the process ends.
        let server = try server { connection in while true { _ = try connection.readFrame() } }
        let listen = try await listen(to: "news", at: server.port)
        listen.signal(SIGINT)
        try await listen.errors.next(containing: "stopping")
        listen.signal(SIGTERM)
        #expect(await listen.end() == .exit(128 + SIGTERM))
    }

    /// Events arrive while nobody reads the output. Reading starts only after the signal, or never.
    @Test(arguments: [true, false])
    func `The listen command prints all received events before it exits at a signal, unless nobody reads them`(isRead: Bool)
        async throws
    {
        try await withServer { server in
            let pipe = try NamedPipe(O_RDONLY | O_NONBLOCK)
            let listen = try Command.inShell("listen news --port \(server.port)", ">" + pipe.path)
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
            if isRead {
                let lines = await Lines(of: open(pipe.path, O_RDONLY | O_CLOEXEC)).toEnd()
                #expect(lines.map { $0.split(separator: " ")[2] } == (1...count).map { "\($0)" })
            }
            #expect(await listen.end() == .exit(128 + SIGINT))
            withExtendedLifetime(pipe) {}
        }
    }
}
#endif
