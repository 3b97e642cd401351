import Foundation
import TestSupport
import Testing

/// The files that a recorder writes, and the files that it finds.
struct TrafficFileTests {
    private let rig = TrafficRig()

    // MARK: The document

    @Test func `A traffic file has the talk's fields, indented, with sorted keys`() throws {
        rig.get("https://api.soundcloud.com/tracks/1235123?q=a%20b+c&q2=%26#top")
        try rig.recorder.record(to: "traffic.json")
        #expect(
            try rig.text() == """
                [
                  {
                    "body": {},
                    "method": "GET",
                    "parameters": {
                      "q": "a b c",
                      "q2": "&"
                    },
                    "url": "https://api.soundcloud.com/tracks/1235123"
                  }
                ]

                """)
    }

    @Test func `Recording the same traffic twice writes the same bytes`() throws {
        let texts = try (0..<2).map { _ in
            let rig = TrafficRig(headers: ["a", "b", "c"])
            rig.recorder.record(
                RecordedRequest(url: "https://a.example/?c=1&a=2&b=3", headers: ["C": "1", "A": "2", "B": "3", "D": "4"]))
            rig.post(#"{"z": 1, "a": [1.5, null, true], "m": {}}"#)
            try rig.recorder.record(to: "traffic.json")
            return try rig.text()
        }
        #expect(texts[0] == texts[1])
    }

    @Test func `A body is written as JSON, form fields, text, or a placeholder`() throws {
        func record(_ body: Data, _ type: String?) {
            let headers = type.map { ["Content-Type": $0] } ?? [:]
            rig.recorder.record(RecordedRequest(method: "POST", url: "https://a.example/", headers: headers, body: body))
        }
        record(Data(#"{"n": [1, {"deep": "x"}]}"#.utf8), "application/json")
        record(Data("name=a+b&tag=1&tag=2&empty=".utf8), "application/x-www-form-urlencoded")
        record(Data("Hello, world = fine".utf8), "text/plain")
        record(Data("7".utf8), "application/json")
        record(Data([0xFF, 0xFE]), nil)
        record(
            Data("--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--x--".utf8),
            "multipart/form-data; boundary=x")
        record(Data(), nil)
        #expect(
            try rig.written().map { $0["body"] } == [
                ["n": [1, ["deep": "x"]]], ["name": "a b", "tag": ["1", "2"], "empty": ""], "Hello, world = fine", 7, "<2 bytes>",
                "<multipart>", [:],
            ])
        try rig.recorder.validate(against: "traffic.json", using: .exact.ordered)
    }

    @Test func `A recorded text that would match others as a pattern is written as a literal`() throws {
        rig.post(#"{"sum": "a+b", "price": "10.5", "event": "c+d", "name": "a.b", "note": "(x"}"#)
        let literals: [Name: JSONValue] = ["sum": "a+b", "price": "10.5", "event": "c+d"].mapValues { ["$literal": $0] }
        #expect(try rig.written().first?["body"] == .object(literals.merging(["name": "a.b", "note": "(x"]) { $1 }))
        try rig.recorder.validate(against: "traffic.json")
        for (part, another) in [("a+b", "aab"), ("10.5", "1005"), ("c+d", "ccd")] {
            let other = TrafficRig()
            let body = #"{"sum": "a+b", "price": "10.5", "event": "c+d", "name": "a.b", "note": "(x"}"#
            other.post(body.replacing(part, with: another))
            #expect(try other.mismatch(rig.text()) != nil)
        }
    }

    @Test func `Header fields are written only if they were asked for`() throws {
        let rig = TrafficRig(headers: ["X-Version"])
        rig.recorder.record(RecordedRequest(url: "https://a.example/", headers: ["x-version": "2", "Accept": "*/*"]))
        #expect(try rig.written().first?["headers"] == ["x-version": "2"])
    }

    @Test func `Frames are written as the JSON they hold`() throws {
        let (socket, recording) = rig.openSocket()
        recording.send(#"{"event":"pusher:subscribe","data":{"channel":"presence-a","channel_data":"{\"user_id\":\"7\"}"}}"#)
        socket.serverSendsEvent("price", channel: "prices", data: #"{"amount":1.5}"#, userID: "ann")
        socket.serverSendsEvent("note", channel: "notes", data: "plain words")
        socket.serverSends("no JSON at all")
        let expected: [JSONValue] = [
            ["frame": "sent", "event": "pusher:subscribe", "data": ["channel": "presence-a", "channel_data": ["user_id": "7"]]],
            ["frame": "received", "event": "price", "channel": "prices", "data": ["amount": .double(1.5)], "user_id": "ann"],
            ["frame": "received", "event": "note", "channel": "notes", "data": "plain words"],
            ["frame": "received", "data": "no JSON at all"],
        ]
        #expect(try rig.written() == expected)
        try rig.recorder.validate(against: "traffic.json", using: .exact.ordered)
        #expect(try rig.mismatch(#"[{"event": "price"}, {"channel": "notes"}, {"frame": "sent"}, {"data": "no .* all"}]"#) == nil)
        #expect(
            try rig.paths(#"[{"frame": "sent", "event": "price"}, {"channel": "notes"}, {"frame": "sent"}, {"data": "no .*"}]"#)
                == ["frame"])
    }

    @Test func `Numbers are written with all their digits, as they were recorded`() throws {
        let numbers = "[12345678901234567890, 1234567890123456789012.5, 1.10, 1e2, 1e999999999]"
        rig.post(numbers)
        try rig.recorder.record(to: "traffic.json")
        let written = try rig.text().filter { !$0.isWhitespace }
        #expect(written.contains(numbers.replacing(" ", with: "")))
    }

    @Test func `Recorded traffic passes against its own file, whatever it looks like`() throws {
        let bodies = [
            #"{"a": {"$any": true}}"#, #"{"a": {"$absent": true}}"#, #"[{"$regex": "x"}, {"$type": 1}]"#,
            #"{"a": {"$literal": {"$any": true}}}"#,
            #"{"a": "([+*", "b": "[a-z]+", "c": "\\Q"}"#, #"{"n": [0, -1, 1.5, 1e300, 123456789012345678901234567890]}"#,
            #"{"": {"": null}, "$any": true, "$x": {}}"#, #"{"emoji": "👩‍👩‍👧", "line": "a\nb", "nul": "\u0000"}"#,
        ]
        for validator in [TrafficValidator.subset, .exact, .subset.ordered, .exact.ordered] {
            let rig = TrafficRig()
            for body in bodies { rig.post(body) }
            try rig.recorder.record(to: "traffic.json")
            try rig.recorder.validate(against: "traffic.json", using: validator)
        }
        rig.post(bodies[0])
        try rig.recorder.record(to: "traffic.json")
        rig.recorder.start()
        rig.post(#"{"a": 1}"#)
        #expect(throws: TrafficMismatch.self) { try rig.recorder.validate(against: "traffic.json") }
    }

    @Test func `A frame whose members look like matchers passes against its own file`() throws {
        let (socket, recording) = rig.openSocket()
        defer { withExtendedLifetime(recording) {} }
        socket.serverSends(#"{"event":"e","more":{"$any":5},"user_id":{"$regex":"("},"headers":{"a":{"$type":"number"}}}"#)
        #expect(try rig.written().first?["headers"] == ["a": ["$literal": ["$type": "number"]]])
        try rig.recorder.validate(against: "traffic.json", using: .exact.ordered)
    }

    // MARK: Refusals

    @Test(arguments: ["true", "1", "woodpecker"])
    func `Recording on CI is refused and writes no file; validation and archive export are allowed`(ci: String) throws {
        let rig = TrafficRig(environment: ["CI": ci])
        rig.get("https://a.example/")
        let error = #expect(throws: TrafficError.self) { try rig.recorder.record(to: "traffic.json") }
        #expect(error?.kind == .refusedOnCI)
        #expect(error?.description.contains("Record it on your own, commit the file") == true)
        #expect(!FileManager.default.fileExists(atPath: rig.directory.path))
        #expect(try rig.mismatch(#"[{"url": "https://a.example/"}]"#) == nil)
        try rig.recorder.exportHAR(to: "traffic.har")
        #expect(try rig.text(of: "traffic.har") == rig.archive)
    }

    @Test(arguments: ["", "false", "0"]) func `Recording is allowed if the CI variable is empty, false, or 0`(ci: String) throws {
        let rig = TrafficRig(environment: ["CI": ci])
        rig.get("http://a/1")
        #expect(try rig.written().first?["url"] == "http://a/1")
    }

    @Test(arguments: [
        ("", TrafficError.Kind.unreadableFile), ("[{]", .unreadableFile), ("{}", .malformedFile(path: "")),
        ("[1]", .malformedFile(path: "[0]")), (#"[{"url": "x", "paramters": {}}]"#, .malformedFile(path: "[0].paramters")),
    ]) func `An unreadable or malformed traffic file is refused with the kind of mistake`(text: String, kind: TrafficError.Kind)
        throws
    {
        #expect(try rig.complaint(about: text)?.kind == kind)
    }

    @Test func `A syntax error in a traffic file is reported with its line`() throws {
        let error = try rig.complaint(about: "[\n  {\n    \"url\": \"x\",\n  }\n]")
        #expect(error?.description.contains("traffic.json, line 4, is no JSON") == true)
    }

    @Test func `Recording to a directory that can't be made is an error`() throws {
        try rig.write("", to: "file")
        rig.get("http://a/1")
        let error = #expect(throws: TrafficError.self) { try rig.recorder.record(to: "\(rig.directory.path)/file/traffic.json") }
        #expect(error?.kind == .unwritableFile)
    }

    @Test func `A recording goes through a link to its file, and into a pipe`() throws {
        try rig.write("[]", to: "traffic.json")
        let (link, pipe) = ("\(rig.directory.path)/link.json", "\(rig.directory.path)/pipe")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(rig.directory.path)/traffic.json")
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDWR | O_NONBLOCK)
        defer { close(reader) }
        rig.get("http://a/1")
        try rig.recorder.exportHAR(to: link)
        try rig.recorder.exportHAR(to: pipe)
        #expect(try rig.text().contains("http://a/1"))
        var bytes = [UInt8](repeating: 0, count: 4096)
        #expect(read(reader, &bytes, bytes.count) > 0 && String(decoding: bytes, as: UTF8.self).contains("http://a/1"))
    }

    @Test func `Recording without entries is refused and writes no file`() throws {
        let file = "\(rig.directory.path)/traffic.json"
        let empty = #expect(throws: TrafficError.self) { try rig.recorder.record(to: "traffic.json") }
        #expect(empty?.description.hasPrefix("\(file) is not recorded: there is nothing to write. Give the client,") == true)
        rig.recorder.start()
        rig.get("http://a/1", "http://a/2")
        let filtered = #expect(throws: TrafficError.self) { try rig.recorder.record(to: "traffic.json", filter: "b.example") }
        #expect(filtered?.description.hasSuffix("The filter (b.example in the URL) lets none of the 2 entries in.") == true)
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    // MARK: File locations

    @Test func `Files are beside the test, in the environment's directory, or at an absolute path`() throws {
        let recorder = TrafficRecorder(environment: [:])
        recorder.record(RecordedRequest(url: "http://a/1"))
        try recorder.record(to: "a/b.json", testFile: "\(rig.directory.path)/Tests/SomeTests.swift")
        try recorder.record(to: "\(rig.directory.path)/absolute.json")
        let elsewhere = TrafficRecorder(environment: ["TRAFFIC_DIR": "\(rig.directory.path)/elsewhere"])
        elsewhere.record(RecordedRequest(url: "http://a/1"))
        try elsewhere.record(to: "b.json", testFile: "/nowhere/SomeTests.swift")
        for file in ["Tests/__Traffic__/a/b.json", "absolute.json", "elsewhere/b.json"] {
            #expect(try rig.text(of: file).contains("http://a/1"))
        }
    }

    @Test func `A file is looked for beside the calling test file by default, and a missing one's error says how to record it`() {
        let error = #expect(throws: TrafficError.self) { try TrafficRecorder(environment: [:]).validate(against: "none.json") }
        #expect(error?.kind == .missingFile)
        #expect(error?.description.hasPrefix("there is no /") == true)
        let advice = "Tests/TestSupportTests/Traffic/__Traffic__/none.json. Call record(to:)"
        #expect(error?.description.contains(advice) == true)
    }
}
