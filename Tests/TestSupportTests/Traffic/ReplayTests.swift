import Foundation
import Testing

@testable import TestSupport

/// Recordings that are played again.
@Suite struct ReplayTests {
    private func file(_ text: String, _ body: (URL) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("replay-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file)
    }

    /// Runs a test with a file, a client that is subscribed to `news`, and the recorder of what it hears.
    private func listening(to text: String, _ body: (TestHarness, RecordingDelegate, URL) throws -> Void) async throws {
        try await file(text) { file in
            try withTestHarness { harness in
                let pusher = harness.makePusher()
                let recorder = RecordingDelegate(of: pusher)
                pusher.subscribe("news")
                pusher.connect()
                try body(harness, recorder, file)
                withExtendedLifetime(pusher) {}
            }
        }
    }

    private func headline(_ data: String) -> RecordingDelegate.Notification { .event("headline", channel: "news", data: data) }

    private let events = """
        {"channel":"news","data":"1","event":"headline","time":"2026-05-01T12:00:00.000Z","user_id":null}
        {"channel":"news","event":"pusher:member_added","time":"2026-05-01T12:00:30.000Z"}

        {"channel":"news","data":"2","event":"headline","time":"2026-05-01T12:01:00.500Z"}
        """

    @Test func `Recorded events are replayed with their pauses, scaled by the speed`() async throws {
        try await listening(to: events) { harness, recorder, file in
            let length = try harness.server.replay(contentsOf: file, speed: 2)
            #expect(length == .seconds(30.25))
            harness.scheduler.advance(by: .seconds(30))
            #expect(recorder.notifications.last == headline("1"))
            harness.scheduler.advance(by: .milliseconds(250))
            #expect(recorder.notifications.last == headline("2"))
        }
    }

    @Test func `Data that a recording has as JSON is replayed as its text`() async throws {
        let line = #"{"channel":"news","data":{"id":7},"event":"headline","time":"2026-05-01T12:00:00.000Z"}"#
        try await listening(to: line) { harness, recorder, file in
            try harness.server.replay(contentsOf: file)
            harness.scheduler.advance(by: .seconds(1))
            #expect(recorder.notifications.last == headline(#"{"id":7}"#))
        }
    }

    @Test(arguments: [
        "", #"{"channel":"news","event":"pusher:ping","time":"2026-05-01T12:00:00.000Z"}"#,
        #"{"log":{"entries":[{"_webSocketMessages":[]}]}}"#,
    ])
    func `A recording without an event that a backend can publish is refused`(text: String) async throws {
        try await file(text) { file in
            let error = #expect(throws: CannotReplay.self) { try TestHarness().server.replay(contentsOf: file) }
            #expect(error?.reason == "it has no event that a backend can publish")
        }
    }

    @Test func `A server without a scheduler replays in real time`() async throws {
        try await file(events) { file in
            let server = InMemoryServer()
            let environment = PusherEnvironment(
                scheduler: LiveScheduler(), httpSession: MockSession(server: server), makeWebSocket: { server.makeWebSocket() },
                randomSeed: { 1 })
            let options = PusherClientOptions(delivery: .immediate)
            let pusher = Pusher(key: ServerApp.local.key, options: options, environment: environment)
            let recorder = RecordingDelegate(of: pusher)
            pusher.subscribe("news")
            pusher.connect()
            try server.replay(contentsOf: file, speed: 1_000)
            let last = headline("2")
            try await recorder.next { $0 == last }
            pusher.disconnect()
        }
    }

    @Test func `A replay with pauses too long for the clock is refused`() async throws {
        try await file(events) { file in
            #expect(throws: CannotReplay.self) {
                try TestHarness().server.replay(contentsOf: file, speed: .leastNonzeroMagnitude)
            }
        }
    }

    @Test(arguments: ["[", #"{"channel":"news"}"#, #"{"channel":"c","event":"e","data":"","time":"noon"}"#])
    func `A line that can't be replayed is named in the error`(line: String) async throws {
        try await file("\n\(line)") { file in
            let error = #expect(throws: CannotReplay.self) { try TestHarness().server.replay(contentsOf: file) }
            #expect(error?.place.hasPrefix("line 2 of replay-") == true)
        }
    }

    @Test func `A session replays the recorded answers of an archive in order, but for bodies that aren't text`() async throws {
        let there = TestHarness()
        there.session.stub("GET /orders", .json(["tea"]), .http(503))
        there.session.stub("GET /picture", StubResponse(status: 200, body: Data([0xFF, 0xD8])))
        let recorder = TrafficRecorder()
        let (recorded, address) = (recorder.recording(there.session), "https://shop.example/orders")
        recorder.start()
        for _ in 0..<2 { try recorded.ask(address) }
        try recorded.ask("https://shop.example/picture")
        try await file(String(decoding: recorder.exportHAR(), as: UTF8.self)) { file in
            try withTestHarness { harness in
                #expect(try harness.session.replay(contentsOf: file).count == 1)
                let answers = try (0..<2).map { _ in try harness.session.ask(address).withLock(\.self) }
                #expect(answers == [#"200 ["tea"]"#, "503 "])
            }
        }
        try there.verify()
    }

    @Test func `The answers to a signed request are replayed whenever it is signed, and signatures are made anew`() async throws {
        let there = TestHarness()
        let recorder = TrafficRecorder()
        let recorded = recorder.recording(there.session)
        let events = "POST https://api.example/apps/1/events?auth_key=local-key&auth_signature="
        there.session.stub("POST /apps/1/events", .json(["n": 1]), .json(["n": 2]))
        for second in 1...2 {
            try recorded.ask("\(events)aa\(second)&auth_timestamp=\(second)&body_md5=\(second)&auth_version=1.0")
        }
        let (auth, form) = ("POST https://app.example/pusher/auth", "socket_id=1.2&channel_name=private-a")
        let signed = try recorded.ask(auth, body: form).withLock(\.self)
        #expect(signed?.hasPrefix("200 ") == true)
        try await file(String(decoding: recorder.exportHAR(), as: UTF8.self)) { file in
            try withTestHarness { harness in
                #expect(try harness.session.replay(contentsOf: file).count == 1)
                let answers = try (7...8).map { second in
                    let address = "\(events)bb&auth_timestamp=\(second)&body_md5=&auth_version=1.0"
                    return try harness.session.ask(address).withLock(\.self)
                }
                #expect(answers == [#"200 {"n":1}"#, #"200 {"n":2}"#])
                #expect(try harness.session.ask(auth, body: form).withLock(\.self) == signed)
            }
        }
        try there.verify()
    }

    private static func message(_ frame: JSONValue, at seconds: Double, type: String = "receive") -> JSONValue {
        ["type": .string(type), "time": .double(seconds), "opcode": 1, "data": .string(frame.text)]
    }

    private static func event(_ name: String, on channel: String = "news", _ data: String) -> JSONValue {
        ["event": .string(name), "channel": .string(channel), "data": .string(data)]
    }

    @Test func `What the WebSockets of an archive received is replayed once, even if several received it`() async throws {
        let connections: [JSONValue] = [
            [
                Self.message(["event": "pusher:connection_established", "data": "{}"], at: 1),
                Self.message(Self.event("pusher_internal:subscription_succeeded", "{}"), at: 2),
                Self.message(Self.event("sockudo:rewind_complete", "{}"), at: 2),
                Self.message(Self.event("headline", "1"), at: 3), Self.message(Self.event("headline", "1"), at: 3.1),
                Self.message(Self.event("client-typing", on: "private-a", "2"), at: 3.2, type: "send"),
                Self.message(Self.event("headline", on: "private-encrypted-a", "{}"), at: 3.3),
            ],
            [
                Self.message("no event", at: 2.9), Self.message(Self.event("headline", "1"), at: 3.01),
                Self.message(Self.event("headline", "1"), at: 3.09), Self.message(Self.event("headline", "1"), at: 5),
            ],
        ]
        let entries = connections.map { JSONValue.object(["_webSocketMessages": $0]) }
        let archive: JSONValue = ["log": ["entries": .array(entries)]]
        try await listening(to: archive.text) { harness, recorder, file in
            let length = try harness.server.replay(contentsOf: file)
            #expect(length == .seconds(3))
            harness.scheduler.advance(by: .seconds(2))
            #expect(recorder.notifications.count { $0 == headline("1") } == 2)
            harness.scheduler.advance(by: .seconds(1))
            #expect(recorder.notifications.count { $0 == headline("1") } == 3)
        }
    }

    // MARK: Browsers

    /// Returns an entry with the members that browsers write.
    private static func entry(_ url: String, _ response: String, _ own: String = "") -> String {
        #"""
        {"startedDateTime": "2026-05-01T14:00:00.000+02:00", "time": 12.3, "timings": {}, "cache": {}, "connection": "443",
        "request": {"method": "GET", "url": "\#(url)", "httpVersion": "h3", "cookies": [], "queryString": [],
        "headers": [{"name": ":authority", "value": "shop.example"}], "headersSize": -1, "bodySize": 0},
        "response": {\#(response), "statusText": "", "cookies": [], "redirectURL": "", "headersSize": -1, "bodySize": -1},
        "serverIPAddress": "[2001:db8::1]"\#(own)}
        """#
    }

    /// Returns an archive of a page with an image, a blocked request, an image within itself, and a WebSocket.
    private static func archive(of browser: String) -> String {
        let image = #"""
            "status": 200, "headers": [{"name": "content-encoding", "value": "br"}, {"name": "content-length", "value": "7"},
            {"name": "set-cookie", "value": "a=1"}, {"name": "set-cookie", "value": "b=2"}],
            "content": {"size": 3, "mimeType": "image/png", "text": "AP8B", "encoding": "base64"}
            """#
        let blocked = #"""
            "status": 0, "headers": [], "content": {"size": 0, "mimeType": "x-unknown"}, "_error": "net::ERR_BLOCKED_BY_CLIENT"
            """#
        let upgrade = #"""
            "status": 101, "headers": [{"name": "Upgrade", "value": "websocket"}], "content": {"size": 0, "mimeType": "x-unknown"}
            """#
        let messages = #"""
            , "_resourceType": "websocket", "_webSocketMessages": [
            {"type": "receive", "time": 1777636800.1, "opcode": 1, "data": "{\"event\":\"pusher:connection_established\"}"},
            {"type": "send", "time": 1777636800.2, "opcode": 1, "data": "{\"event\":\"client-a\",\"channel\":\"news\"}"},
            {"type": "receive", "time": 1777636800.25, "opcode": 1,
            "data": "{\"event\":\"headline\",\"channel\":\"news\",\"data\":\"1\"}"},
            {"type": "receive", "time": 1777636801.25, "opcode": 2, "data": "AP8B"},
            {"type": "receive", "time": 1777636802.25, "opcode": 1,
            "data": "{\"event\":\"headline\",\"channel\":\"news\",\"data\":\"2\"}"}]
            """#
        let entries = [
            entry("https://shop.example/logo?v=2", image, #", "_resourceType": "image""#),
            entry("https://ads.example/", blocked, #", "_resourceType": "script""#),
            entry("data:image/png;base64,AP8B", image),
            entry("wss://ws-eu.pusher.com/app/key", upgrade, browser == "Chrome" ? messages : ""),
        ].joined(separator: ", ")
        return #"{"log": {"version": "1.2", "creator": {"name": "\#(browser)"}, "pages": [], "entries": [\#(entries)]}}"#
    }

    @Test(arguments: ["Chrome", "Firefox"])
    func `A browser's archive answers with its bytes and fields, and blocked requests fail`(browser: String) async throws {
        try await file(Self.archive(of: browser)) { file in
            try await withTestHarness { harness in
                #expect(try harness.session.replay(contentsOf: file).count == 2)
                let (data, response) = try await harness.request(try URLRequest(line: "https://shop.example/logo?v=2"))
                let fields = try #require(response as? HTTPURLResponse)
                #expect(data == Data([0, 255, 1]))
                #expect(fields.value(forHTTPHeaderField: "Set-Cookie") == "a=1, b=2")
                #expect(fields.value(forHTTPHeaderField: "Content-Encoding") == nil)
                let advertisement = try URLRequest(line: "https://ads.example/")
                await #expect(throws: URLError.self) { try await harness.request(advertisement) }
            }
        }
    }

    /// Returns an archive of an image with these members of its content.
    private static func archive(ofContent members: String...) -> String {
        let entries = members.enumerated().map { index, members in
            let content = #""content": {"mimeType": "image/png", \#(members)}"#
            return entry("https://shop.example/\(index)", #""status": 200, "headers": [], \#(content)"#)
        }
        return #"{"log": {"entries": [\#(entries.joined(separator: ", "))]}}"#
    }

    @Test func `A body in broken lines is replayed, one that the browser didn't keep left out, and a broken one refused`()
        async throws
    {
        let lines = #""size": 3, "text": "AP\r\n8B", "encoding": "base64""#
        try await file(Self.archive(ofContent: lines, #""size": 3"#)) { file in
            try await withTestHarness { harness in
                #expect(try harness.session.replay(contentsOf: file).count == 1)
                let (data, _) = try await harness.request(try URLRequest(line: "https://shop.example/0"))
                #expect(data == Data([0, 255, 1]))
            }
        }
        for text in ["AP8BA", "@@@@"] {
            try await file(Self.archive(ofContent: #""size": 3, "text": "\#(text)", "encoding": "base64""#)) { file in
                let error = #expect(throws: CannotReplay.self) { try MockSession().replay(contentsOf: file) }
                #expect(error?.reason.contains("its body isn't the base64 that it says") == true)
            }
        }
    }

    @Test func `The messages in a browser's archive are replayed, and an archive without messages is refused`() async throws {
        try await listening(to: Self.archive(of: "Chrome")) { harness, recorder, file in
            let length = try harness.server.replay(contentsOf: file)
            #expect(length == .seconds(2))
            harness.scheduler.advance(by: .seconds(2))
            #expect(recorder.notifications.suffix(2) == [headline("1"), headline("2")])
        }
        try await file(Self.archive(of: "Firefox")) { file in
            let error = #expect(throws: CannotReplay.self) { try TestHarness().server.replay(contentsOf: file) }
            #expect(error?.reason.contains("_webSocketMessages") == true)
        }
    }

    @Test(arguments: ["{", "{}", #"{"log":{"entries":[{}]}}"#])
    func `A file that is no HTTP archive is refused`(text: String) async throws {
        try await file(text) { file in
            #expect(throws: CannotReplay.self) { try MockSession().replay(contentsOf: file) }
        }
    }
}
