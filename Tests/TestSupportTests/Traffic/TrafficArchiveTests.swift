import Foundation
import TestSupport
import Testing

/// Recorded traffic as an HTTP archive.
struct TrafficArchiveTests {
    private let time = Locked(Date(timeIntervalSince1970: 1_700_000_000))
    private let recorder: TrafficRecorder

    init() {
        let time = time
        recorder = TrafficRecorder(environment: [:], wallClock: { time.withLock { $0 } })
    }

    private func wait(_ seconds: Double) {
        time.withLock { $0 += seconds }
    }

    private func entries() throws -> [JSONValue] {
        let archive = try JSONValue(parsing: String(decoding: recorder.exportHAR(), as: UTF8.self))
        #expect(archive["log"]?["version"] == "1.2")
        return try #require(archive["log"]?["entries"]?.arrayValue)
    }

    @Test func `An archive's request has its times, query, form, and response`() throws {
        let scheduler = TestScheduler()
        let session = MockSession(delivery: .scheduled(scheduler, after: .seconds(1)))
        session.stub(.any, .json(["ok": true], status: 201))
        let fields = ["Content-Type": "application/x-www-form-urlencoded"]
        try recorder.recording(session).ask("POST https://a.example/x?q=a%20b", body: "a=1", fields: fields)
        wait(0.25)
        scheduler.advance(by: .seconds(1))
        let entry = try #require(try entries().first)
        #expect(entry["startedDateTime"] == "2023-11-14T22:13:20.000Z")
        #expect(entry["time"] == .double(250))
        #expect(entry["request"]?["method"] == "POST")
        #expect(entry["request"]?["url"] == "https://a.example/x?q=a%20b")
        #expect(entry["request"]?["queryString"] == [["name": "q", "value": "a b"]])
        #expect(entry["request"]?["postData"] == ["mimeType": "application/x-www-form-urlencoded", "text": "a=1"])
        #expect(entry["response"]?["status"] == 201)
        #expect(entry["response"]?["content"]?["text"] == #"{"ok":true}"#)
        #expect(entry["response"]?["content"]?["mimeType"] == "application/json")
        let members = Set(entry.objectValue?.keys ?? [:].keys)
        #expect(members == ["startedDateTime", "time", "request", "response", "cache", "timings"])
    }

    @Test func `An archive's request without an answer has status 0`() throws {
        recorder.record(RecordedRequest(url: "https://a.example/"))
        #expect(try entries().first?["response"]?["status"] == 0)
    }

    @Test func `An archive has frames in their connection's entry, in Chrome's format`() throws {
        let socket = MockWebSocket(server: .manual)
        let recording = recorder.recording(socket)
        for attempt in 1...2 {
            let request = WebSocketRequest(secure: true, host: "ws.example", port: 443, path: "/app/key?protocol=7")
            recording.open(request, attempt: ConnectionAttempt(attempt))
            socket.accept()
            wait(0.5)
            socket.serverSends("hello \(attempt)")
            recording.send(#"{"event":"pusher:subscribe","data":{"auth":"key:0af3"}}"#)
            wait(0.5)
            recorder.record(RecordedRequest(url: "https://a.example/\(attempt)"))
        }
        let entries = try entries()
        let socketURL: JSONValue = "wss://ws.example:443/app/key?protocol=7"
        let urls = entries.map { $0["request"]?["url"] }
        #expect(urls == [socketURL, "https://a.example/1", socketURL, "https://a.example/2"])
        #expect(entries[0]["_resourceType"] == "websocket")
        #expect(entries[0]["response"]?["status"] == 101)
        #expect(
            entries[0]["_webSocketMessages"] == [
                ["type": "receive", "time": .double(1_700_000_000.5), "opcode": 1, "data": "hello 1"],
                [
                    "type": "send", "time": .double(1_700_000_000.5), "opcode": 1,
                    "data": #"{"data":{"auth":"key:<redacted>"},"event":"pusher:subscribe"}"#,
                ],
            ])
        #expect(entries[2]["_webSocketMessages"]?.arrayValue?.count == 2)
        #expect(entries[1]["_webSocketMessages"] == nil)
    }

    @Test func `An archive keeps frames of a connection opened before the recorder started`() throws {
        let socket = MockWebSocket(server: .manual)
        let recording = recorder.recording(socket)
        recording.open(WebSocketRequest(secure: true, host: "ws.example", port: 443, path: "/"), attempt: ConnectionAttempt(1))
        socket.accept()
        recorder.start()
        recording.send("a")
        #expect(try entries().map { $0["_webSocketMessages"]?.arrayValue?.count } == [1])
    }
}
