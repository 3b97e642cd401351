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

    private let events = """
        {"channel":"news","data":"1","event":"headline","time":"2026-05-01T12:00:00.000Z","user_id":null}
        {"channel":"news","event":"pusher:member_added","time":"2026-05-01T12:00:30.000Z"}

        {"channel":"news","data":"2","event":"headline","time":"2026-05-01T12:01:00.500Z"}
        """

    @Test func `Recorded events are replayed with their pauses, scaled by the speed`() async throws {
        try await file(events) { file in
            try withTestHarness { harness in
                let pusher = harness.makePusher()
                let recorder = RecordingDelegate(of: pusher)
                pusher.subscribe("news")
                pusher.connect()
                let length = try harness.replay(contentsOf: file, speed: 2)
                #expect(length == .seconds(30.25))
                harness.scheduler.advance(by: .seconds(30))
                #expect(recorder.notifications.last == .event("headline", channel: "news", data: "1"))
                harness.scheduler.advance(by: .milliseconds(250))
                #expect(recorder.notifications.last == .event("headline", channel: "news", data: "2"))
            }
        }
    }

    @Test func `A replay with pauses too long for the clock is refused`() async throws {
        try await file(events) { file in
            #expect(throws: CannotReplay.self) { try TestHarness().replay(contentsOf: file, speed: .leastNonzeroMagnitude) }
        }
    }

    @Test(arguments: ["[", #"{"channel":"news"}"#, #"{"channel":"c","event":"e","data":"","time":"noon"}"#])
    func `A line that can't be replayed is named in the error`(line: String) async throws {
        try await file("\n\(line)") { file in
            let error = #expect(throws: CannotReplay.self) { try TestHarness().replay(contentsOf: file) }
            #expect(error?.place.hasPrefix("line 2 of replay-") == true)
        }
    }

    @Test func `A session replays the recorded answers of an archive in order`() async throws {
        let there = TestHarness()
        there.session.stub("GET /orders", .json(["tea"]), .http(503))
        let recorder = TrafficRecorder()
        let (recorded, address) = (recorder.recording(there.session), "https://shop.example/orders")
        recorder.start()
        for _ in 0..<2 { try recorded.ask(address) }
        try await file(String(decoding: recorder.exportHAR(), as: UTF8.self)) { file in
            try withTestHarness { harness in
                let stubs = try harness.session.replay(contentsOf: file)
                #expect(stubs.count == 1)
                let answers = try (0..<2).map { _ in try harness.session.ask(address).withLock(\.self) }
                #expect(answers == [#"200 ["tea"]"#, "503 "])
            }
        }
        try there.verify()
    }

    @Test(arguments: ["{", "{}", #"{"log":{"entries":[{}]}}"#])
    func `A file that is no HTTP archive is refused`(text: String) async throws {
        try await file(text) { file in
            #expect(throws: CannotReplay.self) { try MockSession().replay(contentsOf: file) }
        }
    }
}
