import Foundation
import TestSupport
import Testing

/// Recording over a file that people have edited.
struct TrafficUpdateTests {
    private let rig = TrafficRig()

    private func update(_ file: String, using validator: TrafficValidator = .subset) throws -> JSONValue {
        try rig.write(file)
        try rig.recorder.record(to: "traffic.json", using: validator)
        try rig.recorder.validate(against: "traffic.json", using: validator)
        return try rig.json()
    }

    @Test func `Recording again keeps fitting entries, adds new ones, and drops those that are gone`() throws {
        rig.get("https://api.example.com/tracks/1?at=2024", "https://api.example.com/new")
        rig.post(#"{"id": 7, "name": "x", "at": 123}"#)
        let file = try update(
            #"""
            [{"url": "https://api.example.com/tracks/[0-9]+", "parameters": {"at": {"$any": true}}},
             {"url": "https://api.example.com/gone"},
             {"url": "https://api.example.com/events", "body": {"id": {"$type": "number"}, "more": {"$absent": true}}}]
            """#)
        let added: JSONValue = ["url": "https://api.example.com/new", "method": "GET", "parameters": [:], "body": [:]]
        #expect(
            file == [
                ["url": "https://api.example.com/tracks/[0-9]+", "parameters": ["at": ["$any": true]]], added,
                ["url": "https://api.example.com/events", "body": ["id": ["$type": "number"], "more": ["$absent": true]]],
            ])
    }

    @Test func `Recording again replaces only the fields that no longer fit`() throws {
        rig.post(#"{"id": 7, "name": "new", "tags": ["a", "b2"], "more": 1, "any": {"$any": true}}"#)
        let file = try update(
            #"""
            [{"url": "https://api.example.com/ev.*", "method": "post",
              "body": {"id": "[0-9]+", "name": "old", "tags": ["[a-z]", "b1"], "lost": 1, "more": {"$absent": true}, "any": 3}}]
            """#)
        let body: JSONValue = [
            "id": "[0-9]+", "name": "new", "tags": ["[a-z]", "b2"], "more": 1, "any": ["$literal": ["$any": true]],
        ]
        #expect(file == [["url": "https://api.example.com/ev.*", "method": "POST", "body": body]])
    }

    @Test func `Recording again restores removed members only if the validator is exact`() throws {
        rig.post(#"{"id": 7, "at": 123}"#)
        let edited = #"[{"url": "https://api.example.com/events", "parameters": {}, "body": {"id": 8}}]"#
        #expect(try update(edited).arrayValue?.first?["body"] == ["id": 7])
        #expect(try update(edited, using: .exact).arrayValue?.first?["body"] == ["id": 7, "at": 123])
    }

    @Test(arguments: [TrafficValidator.subset, .exact])
    func `Recording again keeps the file's header names and adds none`(validator: TrafficValidator) throws {
        let (fields, body) = (["X-Id": "7", "X-Kind": "new", "Accept": "*/*"], Data(#"{"id":1}"#.utf8))
        let url = "https://api.example.com/events"
        rig.recorder.record(RecordedRequest(method: "POST", url: url, headers: fields, body: body))
        let file = try update(
            #"""
            [{"url": "https://api.example.com/events", "body": {"id": 2}, "parameters": {"$absent": true},
              "headers": {"X-Id": "[0-9]+", "X-Kind": "old", "X-Gone": "1", "X-None": {"$absent": true}}}]
            """#, using: validator)
        let headers: JSONValue = ["X-Id": "[0-9]+", "X-Kind": "new", "X-None": ["$absent": true]]
        #expect(file == [["url": .string(url), "body": ["id": 1], "parameters": ["$absent": true], "headers": headers]])
    }

    @Test(arguments: [TrafficValidator.subset, .exact])
    func `Recording again writes no body where the file has none`(validator: TrafficValidator) throws {
        rig.get("https://api.example.com/a?x=2", "https://api.example.com/b?x=2")
        let file = try update(
            #"""
            [{"url": "https://api.example.com/a", "parameters": {"x": "1"}, "body": {"$absent": true}},
             {"url": "https://api.example.com/b", "parameters": {"x": "1"}}]
            """#, using: validator)
        #expect(
            file == [
                ["url": "https://api.example.com/a", "parameters": ["x": "2"], "body": ["$absent": true]],
                ["url": "https://api.example.com/b", "parameters": ["x": "2"]],
            ])
    }

    @Test func `Recording again keeps the matchers of a frame`() throws {
        let (socket, recording) = rig.openSocket()
        defer { withExtendedLifetime(recording) {} }
        socket.serverSendsEvent("price", channel: "prices", data: #"{"amount":1.5}"#)
        let file = #"[{"frame": "received", "event": "price", "data": {"amount": {"$type": "number"}}}]"#
        #expect(try update(file) == JSONValue(parsing: file))
    }

    /// A hidden value no longer has a type.
    @Test func `Recording again keeps a type matcher on a redacted value`() throws {
        rig.post(#"{"max_tokens": 100}"#)
        let file = #"[{"url": ".*", "body": {"max_tokens": {"$type": "number"}}}]"#
        #expect(try update(file) == JSONValue(parsing: file))
    }

    @Test func `Recording again replaces a secret in the older file`() throws {
        rig.post(#"{"password": "one", "id": 1}"#)
        let file = try update(#"[{"url": ".*", "body": {"password": "hunter2", "id": "[0-9]"}}]"#)
        #expect(file == [["url": ".*", "body": ["password": "<redacted>", "id": "[0-9]"]]])
    }

    @Test func `Recording again doesn't overwrite a file that can't be read`() throws {
        try rig.write("[{]")
        rig.get("http://a/1")
        let error = #expect(throws: TrafficError.self) { try rig.recorder.record(to: "traffic.json") }
        #expect(error?.kind == .unreadableFile)
        #expect(try rig.text() == "[{]")
    }
}
