import Foundation
import Testing

@testable import TestSupport

struct MockSessionTests {
    private let session = MockSession(delivery: .immediate)
    private let completions = Locked<[String]>([])
    private let endpoint = "http://localhost:9292/pusher/auth"

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func request(_ method: String, _ text: String, body: String? = nil) throws -> URLRequest {
        try URLRequest(line: "\(method) \(text)", body: body)
    }

    private func task(_ request: URLRequest) -> MockTask {
        session.dataTask(with: request) { [completions] data, response, error in
            let text = answerText(data, response, error)
            completions.withLock { $0.append(text) }
        }
    }

    private var results: [String] { completions.withLock { $0 } }

    @Test func `A session's server answers only HTTP API calls below /apps, and other paths are unmatched`() throws {
        let session = MockSession(server: InMemoryServer(), delivery: .immediate)
        let answers = try ["apps/7/settings", "apps/1/channels", "apps/7/channels?auth_key=k"].map { path in
            try session.ask("https://api.example.com/\(path)").withLock { $0 }?.prefix(4)
        }
        #expect(answers == ["noth", "401 ", "404 "])
        #expect(session.findings.map(\.kind) == [.unmatchedRequest])
    }

    @Test func `Requests that answers to requests make without end aren't answered any more, and fail the test`() throws {
        let failure = try failingTest { harness in
            let times = Locked(0)
            @Sendable func ask(_ session: MockSession, _ request: URLRequest) {
                times.withLock { $0 += 1 }
                session.dataTask(with: request) { [weak session] _, _, _ in
                    if let session { ask(session, request) }
                }.resume()
            }
            harness.session.stub("GET /page", .ok)
            ask(harness.session, try URLRequest(line: "http://shop.example/page"))
            #expect(times.withLock(\.self) == 502)
        }
        #expect(failure.findings.count == 1)
        #expect(failure.description.contains("error: GET http://shop.example/page is asked for within the answers to 500 others"))
        #expect(failure.description.contains("isn't answered any more: callbacks answer each other"))
    }

    @Test func `The response for a method and URL, or else for all requests, is delivered as it was given`() throws {
        let address = try url("http://a/x?b=1")
        let answer = HTTPURLResponse(url: address, statusCode: 201, httpVersion: nil, headerFields: nil)
        session.mockResponse = (Data("fallback".utf8), urlResponse: nil, error: nil)
        session.addMockResponse(for: address, httpMethod: "get", data: Data("exact".utf8), urlResponse: answer, error: nil)
        for (method, address) in [("GET", "http://a/x?b=1"), ("POST", "http://a/x?b=1"), ("GET", "http://a/x")] {
            task(try request(method, address)).resume()
        }
        session.mockResponse = (Data(), urlResponse: answer, error: nil)
        task(try request("POST", "http://a/x")).resume()
        session.mockResponse = (nil, urlResponse: nil, error: NSError(domain: "test", code: 7))
        task(try request("GET", "http://a/")).resume()
        #expect(results.prefix(4) == ["201 exact", "fallback", "fallback", "201 "])
        #expect(results.last?.contains("test") == true && results.last?.contains("beside") == false)
        #expect(session.unmatchedRequests.isEmpty)
    }

    @Test func `A later response for a method and a URL replaces the earlier one`() throws {
        let address = try url("http://a/x")
        for (method, text) in [("get", "first"), ("GET", "second")] {
            session.addMockResponse(for: address, httpMethod: method, data: Data(text.utf8), urlResponse: nil, error: nil)
        }
        task(try request("GET", "http://a/x")).resume()
        #expect(results == ["second"])
        #expect(session.findings.isEmpty)
    }

    @Test func `A request without a matching stub fails, names the stubs, and is listed`() throws {
        session.addMockResponse(for: try url("http://a/y"), httpMethod: "GET", data: nil, urlResponse: nil, error: nil)
        task(try request("GET", "http://a/x")).resume()
        let report = try #require(results.first)
        #expect(report.hasPrefix("nothing answers GET http://a/x\n  not GET http://a/y (MockSessionTests.swift:"))
        #expect(report.hasSuffix("): address is http://a/x, not http://a/y"))
        #expect(session.unmatchedRequests.map(\.description) == ["GET http://a/x"])
    }

    @Test func `A request is recorded with its body when its task is resumed, not before`() throws {
        session.mockResponse = (nil, nil, nil)
        var second = try request("PUT", "http://a/2")
        second.httpBodyStream = InputStream(data: Data(repeating: 0x41, count: 10_000))
        second.setValue("v", forHTTPHeaderField: "X-Field")
        let tasks = [task(try request("POST", "http://a/1", body: "a=1&b=x+y%26z")), task(second)]
        #expect(session.requests.isEmpty)
        for task in tasks { task.resume() }
        #expect(session.requests.map(\.description) == ["POST http://a/1", "PUT http://a/2"])
        #expect(session.requests.first?.form == ["a": "1", "b": "x y&z"])
        #expect(session.requests.last?.body.count == 10_000)
        #expect(session.requests.last?.headers["X-Field"] == "v")
    }

    @Test func `A stubbed endpoint signs for the requested channel and socket, and for a user if there is no channel`() throws {
        session.stubAuth(secret: "s3cret", key: "key")
        task(try request("POST", endpoint, body: "socket_id=1.2&channel_name=private-a")).resume()
        #expect(results == [#"200 {"auth":"key:7892e0c10b8b3ccf90cb037eafd38d103f3347cfe46f4bb9950a729d2748e1b1"}"#])
        session.stubAuth(secret: "s3cret", key: "key", userID: "u1")
        let form = "socket_id=1.2&channel_name=presence-a&user_info=%7B%22n%22%3A%22A%22%7D"
        task(try request("POST", endpoint, body: form)).resume()
        let reply = try JSONValue(parsing: String(results.last?.dropFirst(4) ?? ""))
        #expect(reply["channel_data"] == .string(#"{"user_id":"u1","user_info":{"n":"A"}}"#))
        #expect(reply["auth"] == "key:019e1b5296e8f7d6040698ea6c399f0ad35a0d5190e0c5c6fb683deff8e29765")
        task(try request("POST", endpoint, body: "socket_id=1.2")).resume()
        let auth = "key:610b390391c3de840d4b39f9b42249cf3022208a98790f960c025e449ade0584"
        #expect(results.last == #"200 {"auth":"\#(auth)","user_data":"{\"id\":\"u1\"}"}"#)
    }

    @Test func `A stubbed endpoint answers only POST forms, and refuses an incomplete one with 400`() throws {
        session.stubAuth(secret: "s", key: "k")
        task(try request("GET", endpoint)).resume()
        task(try request("POST", endpoint, body: "a=1")).resume()
        #expect(session.unmatchedRequests.count == 2)
        task(try request("POST", endpoint, body: "channel_name=private-a")).resume()
        #expect(results.last?.hasPrefix("400 ") == true)
    }

    @Test func `A task completes once, however often it is resumed and canceled`() throws {
        session.mockResponse = (Data(), nil, nil)
        let task = task(try request("GET", "http://a/"))
        for _ in 0..<2 { task.resume() }
        task.cancel()
        #expect(results == [""])
        #expect(session.requests.count == 1)
    }

    @Test func `A task canceled before it is resumed fails and sends no request`() throws {
        let task = task(try request("GET", "http://a/"))
        task.cancel()
        task.cancel()
        task.resume()
        #expect(results == ["\(URLError.Code.cancelled.rawValue)"])
        #expect(session.requests.isEmpty)
    }

    @Test func `On a scheduler, an answer comes after its delay, and a cancellation without one`() throws {
        let scheduler = TestScheduler()
        session.delivery = .scheduled(scheduler, after: .seconds(2))
        session.mockResponse = (Data("late".utf8), nil, nil)
        let first = task(try request("GET", "http://a/1"))
        for _ in 0..<2 { first.resume() }
        #expect(session.requests.count == 1)
        let second = task(try request("GET", "http://a/2"))
        second.resume()
        scheduler.advance(by: .seconds(1))
        second.cancel()
        #expect(results.isEmpty)
        scheduler.advance(by: .zero)
        #expect(results == ["\(URLError.Code.cancelled.rawValue)"])
        #expect(scheduler.pendingTimers.map(\.label) == ["answer to GET /1"])
        scheduler.advance(by: .seconds(1))
        #expect(results.last == "late")
        #expect(scheduler.pendingTimers.isEmpty)
    }

    @Test(arguments: [0, -1, .infinity, .greatestFiniteMagnitude, .nan] as [TimeInterval])
    func `A zero, negative, infinite, or NaN request timeout doesn't cut off the answer`(interval: TimeInterval) throws {
        let scheduler = TestScheduler()
        let session = MockSession(delivery: .immediate, scheduler: scheduler)
        session.stub("/1", .ok.delayed(by: .seconds(1)))
        var request = try request("GET", "http://a/1")
        request.timeoutInterval = interval
        let answer = Locked<String?>(nil)
        session.dataTask(with: request, answer: answer).resume()
        scheduler.advance(by: .seconds(1))
        #expect(answer.withLock(\.self) == "200 ")
    }

    @Test func `A task canceled while its answer is on the way completes once`() async throws {
        let session = MockSession()
        session.mockResponse = (Data(), nil, nil)
        let request = try request("GET", "http://a/")
        for _ in 0..<200 {
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            let count = Locked(0)
            let task = session.dataTask(with: request) { _, _, _ in
                count.withLock { $0 += 1 }
                continuation.yield()
            }
            task.resume()
            task.cancel()
            _ = try await next("completion", in: stream)
            #expect(count.withLock { $0 } == 1)
        }
    }
}

struct ResponseWaitTests {
    @Test func `A response that waits at a closed gate doesn't keep the gate alive`() {
        weak var gate: Gate?
        do {
            let closed = Gate()
            gate = closed
            let wait = ResponseWait(of: .ok.held(by: closed), on: TestScheduler())
            #expect(closed.waitingCount == 1)
            withExtendedLifetime(wait) {}
        }
        #expect(gate == nil)
    }

    @Test func `A canceled wait no longer waits at its gate`() async {
        let gate = Gate()
        let wait = ResponseWait(of: .ok.held(by: gate), on: TestScheduler())
        let task = Task { await wait.end() }
        task.cancel()
        await task.value
        #expect(gate.waitingCount == 0)
    }
}
