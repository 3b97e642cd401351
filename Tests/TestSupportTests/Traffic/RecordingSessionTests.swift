import Foundation
import TestSupport
import Testing

struct RecordingSessionTests {
    private let rig = TrafficRig()
    private let session = MockSession(delivery: .immediate)
    private let completions = Locked<[String]>([])

    private func task(_ request: URLRequest) -> RecordingTask {
        rig.recorder.recording(session).dataTask(with: request) { [completions] data, response, error in
            let isAnswered = data != nil || response != nil
            let text = error == nil ? answerText(data, response, nil) : "error\(isAnswered ? " beside an answer" : "")"
            completions.withLock { $0.append(text) }
        }
    }

    private func request() throws -> URLRequest { try URLRequest(line: "https://a.example/x") }

    private func reply(_ status: Int, _ text: String) throws {
        let url = try #require(try request().url)
        session.mockResponse = (
            Data(text.utf8), HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil), nil
        )
    }

    @Test func `A recorded answer is passed on unchanged, after its status was recorded`() throws {
        try reply(201, "made")
        let statuses = Locked<[String?]>([])
        let recorder = rig.recorder
        recorder.recording(session).dataTask(with: try request()) { _, _, _ in
            statuses.withLock { $0.append(recorder.entries.first?.json("status")) }
        }.resume()
        #expect(statuses.withLock { $0 } == ["201"])
        task(try request()).resume()
        #expect(completions.withLock { $0 } == ["201 made"])
        #expect(session.requests.count == 2)
    }

    @Test func `A failed request is recorded without a status, and its error is passed on`() throws {
        task(try request()).resume()
        #expect(completions.withLock { $0 } == ["error"])
        #expect(rig.recorder.entries.map(\.description) == ["GET https://a.example/x"])
        #expect(rig.recorder.entries.first?.json("status") == nil)
    }

    @Test func `A task resumed several times is recorded once`() throws {
        try reply(200, "ok")
        let task = task(try request())
        for _ in 0..<3 { task.resume() }
        #expect(rig.recorder.entries.count == 1)
        #expect(session.requests.count == 1)
    }

    @Test func `A body given as a stream is recorded and still sent`() throws {
        try reply(200, "ok")
        var request = try request()
        request.httpMethod = "POST"
        let body = Data(#"{"from":"a stream"}"#.utf8)
        request.httpBodyStream = InputStream(data: body)
        task(request).resume()
        #expect(rig.recorder.entries.first?.json("body") == #"{"from":"a stream"}"#)
        #expect(session.requests.first?.body == body, "the server gets it, too")
    }

    @Test func `A request that is never resumed is not recorded`() throws {
        _ = task(try request())
        #expect(rig.recorder.entries.isEmpty)
    }

    @Test func `A mock request that is canceled completes once, with an error, and is recorded`() throws {
        let scheduler = TestScheduler()
        session.delivery = .scheduled(scheduler, after: .seconds(1))
        try reply(200, "late")
        let task = task(try request())
        task.resume()
        task.cancel()
        scheduler.advance(by: .seconds(2))
        #expect(completions.withLock { $0 } == ["error"])
        #expect(rig.recorder.entries.count == 1)
    }

    @Test func `An answer to a request of an earlier recording is not recorded`() throws {
        let scheduler = TestScheduler()
        session.delivery = .scheduled(scheduler, after: .seconds(1))
        try reply(200, "late")
        task(try request()).resume()
        rig.recorder.start()
        rig.get("https://b.example/")
        scheduler.advance(by: .seconds(2))
        #expect(completions.withLock { $0 } == ["200 late"])
        #expect(rig.recorder.entries.map { $0.json("status") } == [nil])
    }

    @Test func `A stopped recorder passes requests on and records nothing until it is started`() throws {
        try reply(200, "ok")
        rig.recorder.stop()
        task(try request()).resume()
        rig.recorder.record(RecordedRequest(url: "https://a.example/"))
        #expect(rig.recorder.entries.isEmpty)
        rig.recorder.start()
        task(try request()).resume()
        #expect(rig.recorder.entries.count == 1)
        #expect(completions.withLock { $0.count } == 2)
    }

    @Test func `Requests from many threads are all recorded`() throws {
        let recorder = rig.recorder
        try reply(200, "ok")
        let recording = recorder.recording(session)
        let request = try request()
        DispatchQueue.concurrentPerform(iterations: 200) { _ in
            recording.dataTask(with: request) { _, _, _ in }.resume()
        }
        #expect(recorder.entries.count { $0.json("status") == "200" } == 200)
    }
}
