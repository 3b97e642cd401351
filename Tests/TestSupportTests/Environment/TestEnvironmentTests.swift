import Foundation
import TestSupport
import Testing

struct TestEnvironmentTests {
    private let environment = TestEnvironment(seed: 42)

    @Test func `The environment's defaults don't depend on the machine`() {
        #expect(environment.calendar().identifier == .gregorian)
        #expect(environment.calendar().timeZone == .gmt)
        #expect(environment.calendar().locale == Locales.us)
        #expect(environment.locale() == Locales.us)
        #expect(environment.timeZone() == .gmt)
        #expect(environment.now() == Date(timeIntervalSinceReferenceDate: 0))
        #expect(environment.randomSeed() == 42)
        #expect(environment.numberFormatter().string(from: 1_234.5) == "1,234.5")
    }

    @Test func `The environment's date moves with the scheduler from the epoch on, unless it is set`() {
        let environment = TestEnvironment(epoch: Date(timeIntervalSince1970: 1_000), scheduler: environment.scheduler)
        environment.scheduler.advance(by: .milliseconds(2_500))
        #expect(environment.now() == Date(timeIntervalSince1970: 1_002.5))
        environment.now.next = .distantPast
        environment.scheduler.advance(by: .seconds(1))
        #expect(environment.now() == .distantPast)
    }

    @Test func `Formatters are new for each read and use the environment's calendar, locale, and zone`() throws {
        environment.calendar.next = Calendar(identifier: .buddhist)
        environment.locale.next = Locales.germany
        environment.timeZone.next = try #require(TimeZone(secondsFromGMT: 3_600))
        let formatter = environment.dateFormatter()
        #expect(formatter.calendar.identifier == .buddhist)
        #expect(formatter.locale == Locales.germany)
        #expect(formatter.timeZone.secondsFromGMT() == 3_600)
        formatter.dateFormat = "yyyy-MM-dd HH"
        #expect(formatter.string(from: environment.now()) == "2544-01-01 01")
        #expect(environment.dateFormatter() !== formatter)
        #expect(environment.numberFormatter().string(from: 1_234.5) == "1.234,5")
        // Only reads by the code under test are counted, not those by the formatter.
        #expect(environment.locale.reads.isEmpty)
    }

    @Test func `In an unimplemented environment, only the values that the test gives may be used`() {
        environment.unimplemented()
        environment.now.next = .distantFuture
        _ = environment.now()
        #expect(environment.issues.isEmpty)
        _ = environment.calendar()
        _ = environment.locale()
        _ = environment.timeZone()
        _ = environment.dateFormatter()
        _ = environment.numberFormatter()
        _ = environment.decoder()
        _ = environment.encoder()
        _ = environment.jsonDecoder()
        _ = environment.jsonEncoder()
        _ = environment.urlSession()
        _ = environment.randomSeed()
        let names = [
            "calendar", "locale", "timeZone", "dateFormatter", "numberFormatter", "decoder", "encoder", "jsonDecoder",
            "jsonEncoder", "urlSession", "randomSeed",
        ]
        #expect(environment.issues == names.map { "\($0) was used, but is unimplemented" })
    }

    @Test func `The environment's request function is answered by its mock session`() async throws {
        let url = try #require(URL(string: "https://example.com/a"))
        environment.session.mockResponse = (
            Data("hello".utf8), HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: nil), nil
        )
        let (data, response) = try await environment.request(URLRequest(url: url))
        #expect(answerText(data, response, nil) == "201 hello")
        environment.session.mockResponse = (nil, nil, NSError(domain: "test", code: 7))
        let request = environment.request
        let error = await #expect(throws: (any Error).self) { _ = try await request(URLRequest(url: url)) }
        #expect((error as? NSError)?.code == 7)
        #expect(environment.urlSession.reads.count == 2)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `The SDK's environment is made of the test environment's mocks`() async throws {
        let socket = MockWebSocket()
        let executor = TestExecutor(scheduler: environment.scheduler)
        let pusher = environment.pusherEnvironment(makeWebSocket: { socket }, spawn: executor.spawn)
        environment.scheduler.advance(by: .seconds(9))
        #expect(pusher.scheduler.now == .seconds(9))
        #expect(pusher.httpSession as? MockSession === environment.session)
        #expect(pusher.makeWebSocket() as? MockWebSocket === socket)
        #expect(pusher.wallClock() == Date(timeIntervalSinceReferenceDate: 9))
        #expect(pusher.randomSeed() == 42)
        #expect(try pusher.jsonEncoder().encode(["b": 1, "a": 2]) == Data(#"{"a":2,"b":1}"#.utf8))
        #expect(try pusher.jsonDecoder().decode([Int].self, from: Data("[1]".utf8)) == [1])
        let ran = Locked(false)
        let task = pusher.spawn { ran.withLock { $0 = true } }
        #expect(executor.readyCount == 1)
        await executor.settle()
        await task.value
        #expect(ran.withLock { $0 })
    }
}
