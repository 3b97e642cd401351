import Foundation
import TestSupport
import Testing

/// Bugs of the talk's library: each test says what is right instead.
struct SzimplaBugTests {
    private let rig = TrafficRig()

    @Test func `A pattern must match the whole text, not a part of it`() throws {
        rig.get("https://api.soundcloud.com/tracks/123?name=Marcheta")
        #expect(try rig.mismatch(#"[{"url": "https://api.soundcloud.com/tracks/[0-9]+"}]"#) == nil)
        #expect(
            try rig.paths(#"[{"url": "https://api.soundcloud.com/tracks/[0-9]+", "parameters": {"name": "Marche"}}]"#) == [
                "parameters.name"
            ])
        #expect(try rig.paths(#"[{"url": "https://api.soundcloud.com/tracks"}]"#) == ["url"])
    }

    @Test func `A request to another address is a difference`() throws {
        rig.get("https://api.soundcloud.com/playlists/1")
        #expect(try rig.mismatch(#"[{"url": "https://api.soundcloud.com/tracks/1", "parameters": {}, "body": {}}]"#) != nil)
    }

    @Test func `A missing parameter is a difference`() throws {
        rig.get("https://a.example/screen?name=Marcheta")
        #expect(
            try rig.paths(#"[{"url": "https://a.example/screen", "parameters": {"name": "Marcheta", "user": "[0-9]+"}}]"#) == [
                "parameters.user"
            ])
    }

    @Test func `Arrays are compared element by element, also in depth`() throws {
        rig.post(#"{"tracks": [1, 2], "deep": [{"id": 1}]}"#)
        let file = { (tracks: String, id: Int) in
            #"[{"url": "https://api.example.com/events", "body": {"tracks": \#(tracks), "deep": [{"id": \#(id)}]}}]"#
        }
        #expect(try rig.mismatch(file("[1, 2]", 1)) == nil)
        #expect(try rig.paths(file("[1, 3]", 1)) == ["body.tracks[1]"])
        #expect(try rig.paths(file("[1]", 1)) == ["body.tracks[1]"])
        #expect(try rig.paths(file("[1, 2, 3]", 1)) == ["body.tracks[2]"])
        #expect(try rig.paths(file("[1, 2]", 2)) == ["body.deep[0].id"])
    }

    @Test func `A difference shows the file's value as expected and the traffic's as got`() throws {
        rig.get("https://a.example/?n=1")
        let text = try #require(try rig.mismatch(#"[{"url": "https://a.example/", "parameters": {"n": "2"}}]"#)).description
        #expect(text.contains("expected: \"2\"\n    got:      \"1\""))
        #expect(try rig.mismatch("[]")?.differences == [.unexpected(position: 1, entry: "GET https://a.example/")])
    }

    @Test func `A task resumed several times is recorded once`() throws {
        let session = MockSession(delivery: .immediate)
        session.mockResponse = (nil, nil, nil)
        let task = rig.recorder.recording(session).dataTask(
            with: URLRequest(url: try #require(URL(string: "https://a.example/")))
        ) { _, _, _ in }
        for _ in 0..<3 { task.resume() }
        #expect(rig.recorder.entries.count == 1)
        #expect(session.requests.count == 1)
    }

    @Test func `A body given as a stream is recorded and still sent`() throws {
        let session = MockSession(delivery: .immediate)
        session.mockResponse = (nil, nil, nil)
        var request = URLRequest(url: try #require(URL(string: "https://a.example/")))
        request.httpMethod = "POST"
        let body = Data(#"{"from":"a stream"}"#.utf8)
        request.httpBodyStream = InputStream(data: body)
        rig.recorder.recording(session).dataTask(with: request) { _, _, _ in }.resume()
        #expect(rig.recorder.entries.first?.json("body") == #"{"from":"a stream"}"#)
        #expect(session.requests.first?.body == body, "the server gets it, too")
    }

    @Test func `Method, header fields, and status are recorded`() throws {
        let rig = TrafficRig(headers: ["X-Version"])
        let session = MockSession(delivery: .immediate)
        let url = try #require(URL(string: "https://a.example/"))
        session.mockResponse = (nil, HTTPURLResponse(url: url, statusCode: 204, httpVersion: nil, headerFields: nil), nil)
        var request = URLRequest(url: url)
        request.httpMethod = "DELETE"
        request.setValue("3", forHTTPHeaderField: "X-Version")
        rig.recorder.recording(session).dataTask(with: request) { _, _, _ in }.resume()
        try rig.recorder.record(to: "traffic.json")
        let entry = try #require(try rig.json().arrayValue?.first)
        #expect(entry["method"] == "DELETE")
        #expect(entry["headers"] == ["x-version": "3"])
        #expect(entry["status"] == 204)
    }

    @Test func `A file's keys are written in alphabetical order`() throws {
        rig.get("https://a.example/?b=1&a=2&d=3&c=4")
        try rig.recorder.record(to: "traffic.json")
        let text = try rig.text()
        let places = ["body", "method", "parameters", "\"a\"", "\"b\"", "\"c\"", "\"d\"", "url"].map {
            text.range(of: $0)?.lowerBound
        }
        #expect(places == places.sorted { ($0 ?? text.startIndex) < ($1 ?? text.startIndex) })
    }

    @Test func `Recorders don't share entries`() {
        let other = TrafficRig()
        rig.get("https://a.example/")
        other.recorder.stop()
        rig.get("https://b.example/")
        #expect(rig.recorder.entries.count == 2)
        #expect(other.recorder.entries.isEmpty)
    }

    @Test func `A recorder without the directory's variable reports the missing file`() throws {
        let recorder = TrafficRecorder(environment: [:])
        let error = #expect(throws: TrafficError.self) { try recorder.validate(against: "none.json") }
        #expect(error?.kind == .missingFile)
    }

    @Test func `A recorder accepts a validator of the test's own`() throws {
        struct Refusing: Validator {
            struct Refused: Error {}
            func validate(recordedRequests: [TrafficEntry], localRequests: [TrafficEntry]) throws { throw Refused() }
        }
        try rig.write("[]")
        #expect(throws: Refusing.Refused.self) { try rig.recorder.validate(against: "traffic.json", using: Refusing()) }
    }
}
