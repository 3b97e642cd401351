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
            let body = #"{"name":"Ann","token":"t"}"#
            let request = try URLRequest(line: "POST https://api.example.com/events?page=1", body: body)
            let (data, response) = try await session.data(for: request)
            #expect(answerText(data, response, nil) == #"201 {"id":7}"#)
            #expect(harness.session.requests.map(\.text) == [body])
        }
        let entry: JSONValue = [
            "url": "https://api.example.com/events", "method": "POST", "parameters": ["page": "1"], "status": 201,
            "body": ["name": "Ann", "token": "<redacted>"],
        ]
        #expect(try rig.written() == [entry])
    }

    @Test func `A recording configuration whose recorder is gone fails and sends nothing`() async throws {
        try await withTestHarness { harness in
            let session = URLSession(configuration: TrafficRecorder().recording(harness.session).urlSessionConfiguration())
            let request = try URLRequest(line: "https://api.example.com/")
            await #expect(throws: URLError.self) { try await session.data(for: request) }
            #expect(harness.session.requests.isEmpty)
        }
    }

    #if os(Linux)
    /// In a process of its own, which a session that waits for itself would end.
    @Test func `A recording configuration passes requests on to a URLSession that is behind another recorder`() async {
        await #expect(processExitsWith: .success) {
            try await withTestHarness { harness in
                let server = try await harness.startServer()
                server.stub("GET /a", StubResponse(text: "there"))
                let (api, analytics) = (TrafficRecorder(), TrafficRecorder())
                let configuration = analytics.recording(api.recording(URLSession.shared)).urlSessionConfiguration()
                let request = try URLRequest(line: "\(server.url)/a")
                let (data, response) = try await URLSession(configuration: configuration).data(for: request)
                #expect(answerText(data, response, nil) == "200 there")
                #expect(api.entries.count == 1 && analytics.entries.count == 1)
            }
        }
    }
    #endif

    @Test func `A recording configuration over a recorder of a mock keeps the order of requests`() async throws {
        try await withTestHarness { harness in
            let (api, analytics) = (TrafficRecorder(), TrafficRecorder())
            let configuration = analytics.recording(api.recording(harness.session)).urlSessionConfiguration()
            harness.session.stub(.any, StubResponse(text: "there"))
            let urlSession = URLSession(configuration: configuration)
            let requests = try (0..<50).map { try URLRequest(line: "https://a.example/\($0)") }
            for request in requests { urlSession.dataTask(with: request) { _, _, _ in }.resume() }
            try await harness.eventually { analytics.entries.count == 50 && api.entries.count == 50 }
            #expect(api.entries.map { $0.json("url") } == analytics.entries.map { $0.json("url") })
        }
    }

    @Test func `A call to record on CI is found at the test's end`() throws {
        let recorder = TrafficRecorder(environment: ["CI": "true", "TRAFFIC_DIR": rig.directory.path])
        let found = try failingTest { _ in try? recorder.record(to: "traffic.json") }.findings
        #expect(found.first?.text.contains("traffic.json is not recorded: this is a CI machine") == true)
        #expect(found.first?.text.contains("(TrafficOfURLSessionTests.swift:") == true)
        // A recorder that no harness knows still reports its finding, the only one.
        #expect(recorder.findings == found && found.count == 1, "\(found)")
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
