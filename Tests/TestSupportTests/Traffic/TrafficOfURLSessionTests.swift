import Foundation
import TestSupport
import Testing

/// Recorders for code that makes its own requests, and environments in which recorders may not record.
struct TrafficOfURLSessionTests {
    private let rig = TrafficRig()

    @Test func `A recording configuration records a URLSession's requests and passes them on`() async throws {
        try await withTestHarness { harness in
            harness.session.stub("POST /events", .json(["id": 7], status: 201))
            let session = URLSession(configuration: rig.recorder.recording(harness.session).urlSessionConfiguration())
            var request = URLRequest(url: try #require(URL(string: "https://api.example.com/events?page=1")))
            request.httpMethod = "POST"
            request.httpBody = Data(#"{"name":"Ann","token":"t"}"#.utf8)
            let (data, response) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == #"{"id":7}"#)
            #expect((response as? HTTPURLResponse)?.statusCode == 201)
            try rig.recorder.record(to: "traffic.json")
            #expect(harness.session.requests.map(\.text) == [#"{"name":"Ann","token":"t"}"#])
        }
        let entry: JSONValue = [
            "url": "https://api.example.com/events", "method": "POST", "parameters": ["page": "1"], "status": 201,
            "body": ["name": "Ann", "token": "<redacted>"],
        ]
        #expect(try rig.json() == [entry])
    }

    @Test func `A recording configuration whose recorder is gone fails and sends nothing`() async throws {
        try await withTestHarness { harness in
            let configuration = TrafficRecorder().recording(harness.session).urlSessionConfiguration()
            let session = URLSession(configuration: configuration)
            let url = try #require(URL(string: "https://api.example.com/"))
            await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(harness.session.requests.isEmpty)
        }
    }

    @Test func `A call to record on CI is found at the test's end`() throws {
        let recorder = TrafficRecorder(environment: ["CI": "true", "TRAFFIC_DIR": rig.directory.path])
        let failure = #expect(throws: TestFailure.self) {
            try withTestHarness { _ in try? recorder.record(to: "traffic.json") }
        }
        let finding = try #require(failure?.findings.first)
        #expect(failure?.findings.count == 1)
        #expect(finding.text.contains("traffic.json is not recorded: this is a CI machine"))
        #expect(finding.text.contains("(TrafficOfURLSessionTests.swift:"))
        // A recorder that no harness knows still reports its finding.
        #expect(recorder.findings == [finding])
    }

    @Test func `A refused recording on CI is found by a harness verified by hand`() throws {
        let recorder = TrafficRecorder(environment: ["CI": "1", "TRAFFIC_DIR": rig.directory.path])
        let harness = TestHarness()
        _ = harness.makePusher(recorder: recorder)
        try? recorder.record(to: "traffic.json")
        let failure = #expect(throws: TestFailure.self) { try harness.verify() }
        #expect(failure?.findings == recorder.findings)
    }
}
