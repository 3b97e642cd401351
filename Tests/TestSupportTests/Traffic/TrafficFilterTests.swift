import TestSupport
import Testing

struct TrafficFilterTests {
    private struct OnlyTaps: RequestFilter {
        func include(request: TrafficEntry) -> Bool { request.json("body") == #"{"name":"tap"}"# }
    }

    private let rig = TrafficRig()

    init() {
        rig.get("https://api.example.com/tracks/1?liked=true", "https://ads.example.com/pixel")
        rig.post(#"{"name": "tap"}"#)
        let (socket, recording) = rig.openSocket(host: "ws.example.com")
        recording.send(#"{"event":"pusher:subscribe","data":{"channel":"news"}}"#)
        socket.serverSendsEvent("headline", channel: "news", data: "{}")
    }

    static let cases: [(TrafficFilter, [Int])] = [
        (.any, [0, 1, 2, 3, 4]),
        ("https://api", [0, 2]),
        ("liked=true", [0]),
        ("wss://", [3, 4]),
        (.requests, [0, 1, 2]),
        (.frames, [3, 4]),
        (.host("API.example.com"), [0, 2]),
        (.host("ws.example.com"), [3, 4]),
        (.host("example.com"), []),
        (.path("/pixel"), [1]),
        (.path("/pix"), []),
        (.path("/tracks/{id}"), [0]),
        (.path("/app/key"), [3, 4]),
        (.method("post"), [2]),
        (.host("api.example.com") && .method("GET"), [0]),
        ("pixel" || .method("POST"), [1, 2]),
        (!"example.com", []),
        (.requests && !.host("ads.example.com") || .frames, [0, 2, 3, 4]),
        (TrafficFilter { $0.event == "headline" }, [4]),
        (TrafficFilter { $0.channel == "news" && $0.kind == .sent }, [3]),
        (TrafficFilter(OnlyTaps()), [2]),
    ]

    @Test(arguments: cases.indices) func `A filter decides which entries are written and validated`(index: Int) throws {
        let (filter, expected) = Self.cases[index]
        let all = rig.recorder.entries
        guard !expected.isEmpty else {
            let error = #expect(throws: TrafficError.self) { try rig.recorder.record(to: "traffic.json", filter: filter) }
            #expect(error?.kind == .nothingRecorded)
            return
        }
        try rig.recorder.record(to: "traffic.json", filter: filter)
        let written = try #require(try rig.json().arrayValue)
        #expect(written.count == expected.count)
        #expect(all.indices.filter { filter.include(request: all[$0]) } == expected)
        try rig.recorder.validate(against: "traffic.json", using: .exact.ordered, filter: filter)
        if expected.count < all.count {
            #expect(throws: TrafficMismatch.self) { try rig.recorder.validate(against: "traffic.json") }
        }
    }

    @Test func `A filter doesn't apply to the file's own entries`() throws {
        try rig.write(#"[{"url": "https://[a-z]+.example.com/pixel"}, {"url": "https://lost.example.com/"}]"#)
        let mismatch = #expect(throws: TrafficMismatch.self) {
            try rig.recorder.validate(against: "traffic.json", filter: "https://ads.example.com")
        }
        #expect(mismatch?.differences == [.missing(position: 2, entry: "https://lost.example.com/")])
    }
}
