import Foundation
import TestSupport
import Testing

/// The names and ports of this machine, which differ from run to run.
struct TrafficLocalAddressTests {
    private let rig = TrafficRig()

    @Test func `Traffic with a local server passes against a file recorded on another port`() async throws {
        let rig = TrafficRig(headers: ["Referer", "Host"])
        for number in 1...2 {
            try await withTestHarness { harness in
                let server = try await harness.startServer()
                server.stub("GET /users/{id}", .json(["name": "Ann"]))
                rig.recorder.start()
                var request = URLRequest(url: server.url.appendingPathComponent("users/7"))
                request.setValue("\(server.url)/login?next=a%2Fb", forHTTPHeaderField: "Referer")
                let urlSession = URLSession(configuration: rig.recorder.recording(URLSession.shared).urlSessionConfiguration())
                _ = try await urlSession.data(for: request)
                for request in server.requests { rig.recorder.record(request) }
                guard number == 1 else { return try rig.recorder.validate(against: "traffic.json", using: .exact.ordered) }
                try rig.recorder.record(to: "traffic.json")
                #expect(try !rig.text().contains(":\(server.port)"))
            }
        }
        #expect(try rig.json().arrayValue?.map { $0["url"] } == ["http://localhost/users/7", "http://localhost/users/7"])
        #expect(try rig.json().arrayValue?.last?["headers"]?["host"] == "localhost")
    }

    @Test(arguments: [
        ("http://127.0.0.1:4711/users/7", "http://127.0.0.1:9/users/7", true),
        ("http://localhost:4711/users/[0-9]+", "http://127.0.0.1:9/users/7", true),
        ("http://[::1]/users/7", "http://localhost:9/users/7", true),
        ("http://127.0.0.1:[0-9]+/users/7", "http://127.0.0.1:9/users/7", true),
        ("http://(127.0.0.1|localhost):.*/7", "http://127.0.0.1:9/users/7", true),
        ("http://127.0.0.1:4711/users/8", "http://127.0.0.1:9/users/7", false),
        ("https://127.0.0.1:4711/users/7", "http://127.0.0.1:9/users/7", false),
        ("http://api.example.com:4711/", "http://api.example.com:9/", false),
        ("http://localhost.example.com:4711/", "http://localhost.example.com:9/", false),
        ("http://127.0.0.10:4711/", "http://127.0.0.1:9/", false),
        ("http://localhost:4711/", "http://api.example.com:4711/", false),
    ]) func `Local host names and ports are interchangeable, other addresses are not`(expected: String, got: String, fits: Bool)
        throws
    {
        rig.get(got)
        #expect(try (rig.mismatch(#"[{"url": "\#(expected)"}]"#) == nil) == fits)
        // The same inside a body.
        rig.recorder.start()
        rig.post(#"{"callback": "\#(got)"}"#)
        #expect(try (rig.mismatch(#"[{"url": ".*", "body": {"callback": "\#(expected)"}}]"#) == nil) == fits)
    }

    @Test func `A text that only contains or begins with a local host name is written unchanged`() throws {
        let (plain, matcher) = (#""c": "127.0.0.1:80", "d": ["x@localhost"]"#, #""e": {"$any": "[::1]:1"}"#)
        rig.post(#"{"a": "localhost is here", "b": "see localhost:80", \#(plain), \#(matcher)}"#)
        let body: JSONValue = [
            "a": "localhost is here", "b": "see localhost:80", "c": "localhost", "d": ["x@localhost"],
            "e": ["$literal": ["$any": "localhost"]],
        ]
        #expect(try rig.written().first?["body"] == body)
        try rig.recorder.validate(against: "traffic.json", using: .exact)
    }

    @Test func `A missing entry whose address is no pattern says so`() throws {
        rig.get("https://api.example.com/tracks/1235123")
        let text = try #require(try rig.mismatch(#"[{"url": "/tracks/([0-9]+"}]"#)).description
        #expect(
            text.contains("/tracks/([0-9]+\n  (its url can't be used as a pattern, so it stands for itself only)\n  is missing"))
    }
}
