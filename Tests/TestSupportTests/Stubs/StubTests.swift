import Foundation
import TestSupport
import Testing

struct StubTests {
    private let time = TestScheduler()
    private let session: MockSession

    init() { session = MockSession(delivery: .immediate, scheduler: time) }

    private func send(_ path: String) throws -> Locked<String?> { try session.ask("https://example.com\(path)") }

    /// Returns the immediate reply to a request, or nil if there is none.
    private func reply(_ method: String, _ path: String) -> String? {
        (try? session.ask("\(method) https://example.com\(path)"))?.withLock { $0 }
    }

    @Test func `The stub added last answers first and can be removed`() {
        session.stub("GET /a", StubResponse(text: "first"))
        let second = session.stub("/a", StubResponse(text: "second"))
        #expect(reply("GET", "/a") == "200 second")
        session.remove(second)
        #expect(reply("GET", "/a") == "200 first")
        session.removeAllStubs()
        #expect(reply("GET", "/a")?.hasPrefix("nothing answers") == true)
        #expect(session.stubs.isEmpty)
        #expect(second.callCount == 1)
    }

    @Test func `A stub's closure gets the request and its path parameters`() {
        let stub = session.stub("GET /users/{id}") { StubResponse(text: "user \($0.pathParameters["id"] ?? "?")") }
        #expect(reply("GET", "/users/a%20b") == "200 user a b")
        #expect(stub.requests.map(\.path) == ["/users/a%20b"])
        #expect(stub.requests.first?.pathParameters == ["id": "a b"])
    }

    @Test func `A stub with a limit leaves further requests to the stub before it`() {
        session.stub("/a", StubResponse(text: "always"))
        session.stub("/a", StubResponse(text: "twice")).times(2)
        #expect((0..<3).map { _ in reply("GET", "/a") } == ["200 twice", "200 twice", "200 always"])
    }

    @Test func `A stub with a limit of zero is not required to be asked`() {
        session.stub("/a", .http(500)).times(0)
        #expect(session.findings.isEmpty)
    }

    @Test func `A stub with a limit must be asked that often unless it is optional`() {
        session.stub("/a", .ok).times(2)
        let closure = session.stub("/b") { _ in .ok }.times(2)
        #expect([reply("GET", "/a"), reply("GET", "/b")] == ["200 ", "200 "])
        #expect(session.findings.map(\.kind) == [.unplayedStep, .unplayedStep])
        #expect(session.findings.first?.text.hasSuffix("gave 1 of 2 answers") == true)
        closure.optional()
        _ = reply("GET", "/a")
        #expect(session.findings.isEmpty)
    }

    @Test func `A scenario's state can be set, and is the reason why the stubs of other states don't answer`() {
        let visit = Scenario("visit", startingIn: "signed out")
        session.stub("POST /login", .ok).in(visit, state: "signed out", then: "signed in")
        #expect(reply("POST", "/login") == "200 ")
        #expect(reply("POST", "/login")?.contains("scenario visit is in state signed in, not signed out") == true)
        visit.state = "signed out"
        #expect(reply("POST", "/login") == "200 ")
    }

    @Test func `Only one of many concurrent requests moves a scenario to its next state`() async {
        let scenario = Scenario("race", startingIn: "before")
        let winner = session.stub("/a", .ok).in(scenario, state: "before", then: "after")
        let loser = session.stub("/a", .http(409)).in(scenario, state: "after")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = reply("GET", "/a") } }
        }
        #expect((winner.callCount, loser.callCount) == (1, 99))
    }

    private static let timedOut = "\(URLError.Code.timedOut.rawValue)"

    @Test(
        arguments: [
            (.ok.delayed(by: .seconds(3)), 3, "200 "), (.fault(.latency(.seconds(2))).delayed(by: .seconds(1)), 3, "200 "),
            (.fault(.stall), 60, timedOut), (.ok.delayed(by: .seconds(90)), 60, timedOut), (.ok.held(by: Gate()), 60, timedOut),
        ] as [(StubResponse, Int, String)])
    func `A request ends once, when its answer's delay and latency or 60 seconds are over`(
        response: StubResponse, seconds: Int, result: String
    ) throws {
        session.stub("/a", response)
        let answer = try send("/a")
        time.advance(by: .seconds(seconds) - .milliseconds(1))
        #expect(answer.withLock { $0 } == nil)
        time.advance(by: .milliseconds(1))
        #expect(answer.withLock { $0 } == result)
        time.advance(by: .seconds(60))
        #expect(answer.withLock { $0 } == result)
        #expect(time.pendingTimers.isEmpty)
    }

    @Test func `A held answer comes when its gate opens`() throws {
        let gate = Gate()
        session.stub("/held", StubResponse(text: "held").held(by: gate))
        let held = try send("/held")
        #expect(held.withLock { $0 } == nil && gate.waitingCount == 1)
        gate.open()
        #expect([held.withLock { $0 }, reply("GET", "/held")] == ["200 held", "200 held"])
    }

    @Test func `A request canceled while it is held or delayed is not answered`() throws {
        let gate = Gate()
        session.stub("/held", .ok.held(by: gate).delayed(by: .seconds(1)))
        let (request, result) = (try URLRequest(line: "https://example.com/held"), Locked<String?>(nil))
        let task = session.dataTask(with: request, answer: result)
        task.resume()
        gate.open()
        task.cancel()
        #expect(result.withLock { $0 } == "\(URLError.Code.cancelled.rawValue)")
        #expect(time.pendingTimers.isEmpty)

        let closed = Gate()
        session.stub("/held", .ok.held(by: closed))
        let tasks = (0..<3).map { _ in session.dataTask(with: request, answer: result) }
        for task in tasks { task.resume() }
        tasks[1].cancel()
        #expect(closed.waitingCount == 2)
        for task in tasks { task.cancel() }
        #expect(closed.waitingCount == 0)
    }

    @Test(
        arguments: [
            (.refused, "\(URLError.Code.cannotConnectToHost.rawValue)"),
            (.reset, "\(URLError.Code.networkConnectionLost.rawValue)"),
            (.error(.badURL), "\(URLError.Code.badURL.rawValue)"),
            (.wrongAcceptKey, "mockSession can't do wrongAcceptKey; it exists at: localServer, mockWebSocket"),
        ] as [(Fault, String)])
    func `A fault is the error that URLSession would report, or names where it exists`(fault: Fault, error: String) {
        session.stub("/a", .fault(fault))
        #expect(reply("GET", "/a") == error)
    }

    @Test func `A forbidden call is reported even after its stub was removed`() {
        session.stub("/a", .ok).never()
        _ = reply("GET", "/a")
        session.removeAllStubs()
        #expect(session.findings.map(\.kind) == [.unexpectedCall])
    }

    @Test func `A stub with several answers must give as many as its limit`() {
        session.stub("/a", .http(1), .http(2), .http(3)).times(2)
        _ = reply("GET", "/a")
        #expect(session.findings.map(\.kind) == [.unplayedStep])
        _ = reply("GET", "/a")
        #expect(session.findings.isEmpty)
    }

    @Test func `A redirect is delivered as an answer, not followed`() {
        session.stub("/a", .redirect(to: "https://example.com/b"))
        #expect(reply("GET", "/a") == "302 ")
    }

    @Test func `A request without an answer names the nearest stubs first`() {
        for matcher in ["POST /a/b", "GET /a/c", "DELETE https://other.example.com/"] as [RequestMatcher] {
            session.stub(matcher, .ok)
        }
        let report = reply("GET", "/a/b") ?? ""
        let lines = report.split(separator: "\n").map { $0.prefix { $0 != "(" } }
        #expect(
            lines == [
                "nothing answers GET https://example.com/a/b", "  not GET /a/c ", "  not POST /a/b ",
                "  not DELETE https://other.example.com/ ",
            ])
        #expect(report.contains("(StubTests.swift:"))
    }

    @Test func `A fixture file is the answer, and a missing one is an error`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("fixture-\(UUID().uuidString).json")
        try Data("[1]".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        session.stub("/a", try .file(at: file.path))
        #expect(reply("GET", "/a") == "200 [1]")
        #expect(throws: (any Error).self) { try StubResponse.file(at: file.path + ".missing") }
    }
}
