import Foundation
import TestSupport
import Testing

struct StubURLProtocolTests {
    private let session = MockSession(delivery: .immediate)
    private var urlSession: URLSession { URLSession(configuration: session.urlSessionConfiguration()) }

    private func request(_ method: String = "GET", body: String? = nil) throws -> URLRequest {
        try URLRequest(line: "\(method) https://nowhere.invalid/a", body: body, fields: ["X-Field": "v"])
    }

    @Test func `A URLSession's requests are answered and recorded by the mock session`() async throws {
        session.stub("POST /a", StubResponse(status: 201, headers: ["X-Answer": "yes"], body: Data("body".utf8)))
        let (data, response) = try await urlSession.data(for: request("POST", body: "x=1"))
        #expect(answerText(data, response, nil) == "201 body")
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Answer") == "yes")
        #expect(session.requests.map(\.form) == [["x": "1"]])
        #expect(session.requests.first?.header("x-field") == "v")
    }

    @Test func `A URLSession's request without a stub fails and is listed as unmatched`() async throws {
        await #expect(throws: (any Error).self) { try await urlSession.data(for: request()) }
        #expect(session.unmatchedRequests.count == 1)
    }

    @Test(arguments: [(Fault.refused, URLError.Code.cannotConnectToHost), (.reset, .networkConnectionLost)])
    func `A fault is reported to a URLSession as its URLError`(fault: Fault, code: URLError.Code) async throws {
        session.stub("/a", .fault(fault))
        let error = await #expect(throws: URLError.self) { try await urlSession.data(for: request()) }
        #expect(error?.code == code)
    }

    @Test func `A canceled URLSession task ends with the cancellation error`() async throws {
        let gate = Gate()
        session.stub("/a", .ok.held(by: gate))
        var request = try request()
        // With a shorter time-out, the request could end by itself on a slow machine.
        request.timeoutInterval = 600
        let (codes, code) = AsyncStream<Int?>.makeStream()
        let task = urlSession.dataTask(with: request) { _, _, error in code.yield((error as? URLError)?.code.rawValue) }
        task.resume()
        try await session.nextRequest()
        task.cancel()
        #expect(await codes.first { _ in true } == URLError.Code.cancelled.rawValue)
        gate.open()
    }

    @Test func `URL sessions of different mocks with the same address don't affect each other`() async throws {
        let texts = try await withThrowingTaskGroup(of: (Int, Set<String>).self) { group in
            for index in 0..<8 {
                group.addTask {
                    let session = MockSession(delivery: .immediate)
                    session.stub("/a", StubResponse(text: "\(index)"))
                    let urlSession = URLSession(configuration: session.urlSessionConfiguration())
                    var texts: Set<String> = []
                    for _ in 0..<20 { texts.insert(String(decoding: try await urlSession.data(for: request()).0, as: UTF8.self)) }
                    return (index, texts)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(texts == Dictionary(uniqueKeysWithValues: (0..<8).map { ($0, ["\($0)"]) }))
    }

    @Test func `A URLSession that outlives its mock session fails`() async throws {
        let urlSession = URLSession(configuration: MockSession().urlSessionConfiguration())
        await #expect(throws: URLError.self) { try await urlSession.data(for: request()) }
    }

    // MARK: URLSession.shared

    #if os(Linux)
    /// In a process of its own, because Foundation takes note of what intercepts requests once.
    @Test func `Requests of URLSession.shared to intercepted hosts reach the mock session, others the network`() async {
        await #expect(processExitsWith: .success) {
            let session = MockSession(delivery: .immediate)
            session.stub("GET /a", StubResponse(text: "mine"))
            try session.intercept(.shared, hosts: "API.example.com", "b.example.com")
            let (data, _) = try await URLSession.shared.data(from: #require(URL(string: "https://api.example.com/a")))
            #expect(String(decoding: data, as: UTF8.self) == "mine")
            let elsewhere = try #require(URL(string: "http://127.0.0.1:1/a"))
            await #expect(throws: URLError.self) { try await URLSession.shared.data(from: elsewhere) }
            #expect(session.requests.count == 1 && session.findings.isEmpty)
        }
    }

    @Test func `Requests to an intercepted host fail after the test, unless they are to this machine or claimed again`() async {
        await #expect(processExitsWith: .success) {
            try withTestHarness { harness in
                try harness.session.intercept(.shared, hosts: "nowhere.invalid", "127.0.0.1")
            }
            let (away, here) = (try URLRequest(line: "http://nowhere.invalid/a"), try URLRequest(line: "http://127.0.0.1:1/a"))
            let late = await #expect(throws: URLError.self) { try await URLSession.shared.data(for: away) }
            #expect(late?.code == .cancelled)
            let refused = await #expect(throws: URLError.self) { try await URLSession.shared.data(for: here) }
            #expect(refused?.code != .cancelled)
            let session = MockSession(delivery: .immediate)
            session.stub("GET /a", StubResponse(text: "mine"))
            try session.intercept(.shared, hosts: "nowhere.invalid")
            let (data, _) = try await URLSession.shared.data(for: away)
            #expect(String(decoding: data, as: UTF8.self) == "mine")
        }
    }

    @Test func `Intercepting requests after the process's first URLSession is a finding`() async {
        await #expect(processExitsWith: .success) {
            _ = URLSession(configuration: .default)
            let session = MockSession(delivery: .immediate)
            try session.intercept(.shared, hosts: "api.example.com")
            #expect(session.findings.map(\.kind) == [.error])
        }
    }
    #endif

    @Test func `A host is intercepted for one mock session at a time`() throws {
        var other: MockSession? = MockSession(delivery: .immediate)
        try other?.intercept(.shared, hosts: "one.example")
        #expect(throws: HostIsIntercepted.self) { try session.intercept(.shared, hosts: "two.example", "ONE.example") }
        other = nil
        try session.intercept(.shared, hosts: "one.example")
    }
}
