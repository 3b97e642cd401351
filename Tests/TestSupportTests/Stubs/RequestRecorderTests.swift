import Foundation
import TestSupport
import Testing

struct RequestRecorderTests {
    private let session = MockSession(delivery: .immediate)

    init() { session.stub(.any, .ok) }

    private func send(_ paths: String...) throws { for path in paths { try session.ask("http://a\(path)") } }

    @Test func `The next request is the first that was not returned before`() async throws {
        try send("/1", "/2", "/3")
        #expect(try await session.nextRequest().path == "/1")
        #expect(try await session.nextRequest("/3").path == "/3")
        #expect(try await session.nextRequest().path == "/2")
        async let next = session.nextRequest()
        try send("/4")
        #expect(try await next.path == "/4")
        #expect(session.requests.count == 4)
    }

    @Test func `Each of two waiters gets the request that it waits for`() async throws {
        async let second = session.nextRequest("/2")
        async let first = session.nextRequest("/1")
        try send("/0", "/1", "/2")
        #expect(try await [first.path, second.path] == ["/1", "/2"])
    }

    @Test func `A waiting matcher may ask the session itself`() async throws {
        try send("/1")
        let second = Task {
            try await session.nextRequest(RequestMatcher { [session] in session.requests.count == 2 && $0.path == "/2" })
        }
        try send("/2")
        #expect(try await second.value.path == "/2")
    }

    @Test func `Fifty waiters for any request get one request each`() async throws {
        let paths = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await session.nextRequest().path } }
            for number in 0..<50 { try send("/\(number)") }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(paths.count == 50)
    }

    @Test func `A canceled task stops waiting for a request`() async {
        let waiting = Task { try await session.nextRequest() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
