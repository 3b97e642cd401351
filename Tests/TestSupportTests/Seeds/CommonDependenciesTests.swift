import Foundation
import PusherChannels
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The samples of the CommonDependencies document, each with a comment on its changes. In all of them, `World.mock` is made of the
// test's own environment, and `CommonDependencies.Calendars.nextMockedCalendar` is `environment.calendar.next`.

/// Changed: closures are `@Sendable`, `mainScheduler` is an SDK scheduler, the publisher is an async function, and
/// `URLSession` is the SDK's seam over it, which can be mocked on Linux.
private struct World: Sendable {
    let calendar: @Sendable () -> Calendar
    let dateFormatter: @Sendable () -> DateFormatter
    let decoder: @Sendable () -> AnyDecoder<Data>
    let encoder: @Sendable () -> AnyEncoder<Data>
    let locale: @Sendable () -> Locale
    let now: @Sendable () -> Date
    let numberFormatter: @Sendable () -> NumberFormatter
    let mainScheduler: any Scheduler
    let timeZone: @Sendable () -> TimeZone
    let urlRequest: @Sendable (URLRequest) async throws -> (Data, URLResponse)
    let urlSession: @Sendable () -> any HTTPSession
}

extension World {
    /// Changed: closures that configure a formatter or coder don't return it, and the scheduler isn't a dispatch queue's.
    static let live: World = {
        let urlSession = Live.urlSession()

        return World(
            calendar: Live.calendar(),
            dateFormatter: Live.dateFormatter { $0.dateStyle = .full },
            decoder: Live.jsonDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase },
            encoder: Live.jsonEncoder { $0.keyEncodingStrategy = .convertToSnakeCase },
            locale: Live.locale(),
            now: Live.now(),
            numberFormatter: Live.numberFormatter { $0.numberStyle = .currency },
            mainScheduler: LiveScheduler(),
            timeZone: Live.timeZone(),
            urlRequest: Live.request(session: urlSession),
            urlSession: urlSession
        )
    }()

    /// Changed: a function of the test's environment instead of a constant that all tests share.
    static func mock(_ environment: TestEnvironment) -> World {
        World(
            calendar: environment.calendar.function,
            dateFormatter: environment.dateFormatter.function,
            decoder: environment.decoder.function,
            encoder: environment.encoder.function,
            locale: environment.locale.function,
            now: environment.now.function,
            numberFormatter: environment.numberFormatter.function,
            mainScheduler: environment.scheduler,
            timeZone: environment.timeZone.function,
            urlRequest: environment.request,
            urlSession: environment.urlSession.function
        )
    }
}

/// Changed like ``World``.
private struct APIDependencies: Sendable {
    let decoder: @Sendable () -> AnyDecoder<Data>
    let encoder: @Sendable () -> AnyEncoder<Data>
    let mainScheduler: any Scheduler
    let urlSession: @Sendable () -> any HTTPSession
}

/// Unchanged.
private func moduleDependencies(world: World) -> APIDependencies {
    let dependencies = APIDependencies(
        decoder: world.decoder,
        encoder: world.encoder,
        mainScheduler: world.mainScheduler,
        urlSession: world.urlSession
    )
    return dependencies
}

private struct User: Codable, Equatable {
    var name: String
}

/// Changed: the code does what the document describes in comments, on a scheduler instead of a queue.
private func performRequest(
    urlRequest: URLRequest, dependencies: APIDependencies, completion: @escaping @Sendable (Result<User, any Error>) -> Void
) {
    let jsonDecoder = dependencies.decoder()
    let mainScheduler = dependencies.mainScheduler
    let task = dependencies.urlSession().dataTask(with: urlRequest) { data, _, _ in
        let user = Result { try jsonDecoder.decode(User.self, from: data ?? Data()) }
        _ = mainScheduler.schedule(at: mainScheduler.now, label: "completion of a request") { completion(user) }
    }
    task.resume()
}

struct CommonDependenciesTests {
    private let environment = TestEnvironment()
    private let world: World
    private let github: URL

    init() throws {
        world = .mock(environment)
        github = try #require(URL(string: "https://github.com"))
    }

    // Changed: implements the document's `MockedResponses.http404(from:)`.
    private func http404(from url: URL) -> MockSession.Response {
        (Data(), HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: nil), nil)
    }

    // MARK: The world

    @Test func `A struct of closures can also hold the live dependencies`() throws {
        let world = World.live
        #expect(world.calendar() == .current)
        #expect(world.locale() == .current)
        #expect(world.timeZone() == .current)
        #expect(world.now() <= Date())
        #expect(world.dateFormatter().dateStyle == .full)
        #expect(world.numberFormatter().numberStyle == .currency)
        #expect(try world.encoder().encode(["userName": 1]) == Data(#"{"userName":1}"#.utf8))
        #expect(try world.decoder().decode([Int].self, from: Data("[1]".utf8)) == [1])
        #expect(world.urlSession() is URLSession)
    }

    @Test func `A module gets a subset of dependencies, and its completion waits for the scheduler`() throws {
        let results = Locked<[User?]>([])
        environment.decoderMock.nextDecode = { _ in .success(User(name: "Ada")) }
        environment.session.mockResponse = http404(from: github)
        performRequest(urlRequest: URLRequest(url: github), dependencies: moduleDependencies(world: world)) { result in
            let user = try? result.get()
            results.withLock { $0.append(user) }
        }
        #expect(results.withLock { $0 } == [])
        environment.scheduler.advance(by: .zero)
        #expect(results.withLock { $0 } == [User(name: "Ada")])
    }

    // MARK: Individual dependencies

    // Changed: `next` is the environment's own.
    @Test func `The environment's calendar is Gregorian by default and can be replaced`() {
        let defaultCalendar = world.calendar()
        environment.calendar.next = .init(identifier: .buddhist)
        let mockedCalendar = world.calendar()
        #expect(defaultCalendar.identifier == .gregorian)
        #expect(mockedCalendar.identifier == .buddhist)
    }

    // Changed: `next` is the environment's own.
    @Test func `The environment's date formatter is American by default and can be replaced`() {
        let defaultDateFormatter = world.dateFormatter()
        environment.dateFormatter.next = {
            let dateFormatter = DateFormatter()
            dateFormatter.timeZone = .init(secondsFromGMT: 0)
            dateFormatter.locale = Locales.china
            dateFormatter.calendar = .init(identifier: .chinese)
            return dateFormatter
        }()
        let mockedDateFormatter = world.dateFormatter()
        #expect(defaultDateFormatter.locale == Locales.us)
        #expect(defaultDateFormatter.string(from: world.now()).hasPrefix("Jan 1, 2001"))
        mockedDateFormatter.dateStyle = .full
        #expect(mockedDateFormatter.string(from: world.now()).contains("腊月"))
    }

    // Changed: calls `decode(_:from:)` directly, because there is no `Just(…).decode(type:decoder:)` without Combine.
    @Test func `The environment's decoder fails by default and can be given a result`() throws {
        let jsonDecoder = world.decoder()
        #expect(throws: DecodingError.self) { try jsonDecoder.decode(String.self, from: Data()) }
        environment.decoderMock.nextDecode = { _ in
            .success("Mocked Reeturn")
        }
        let mockedDecoder = world.decoder()
        #expect(try mockedDecoder.decode(String.self, from: Data()) == "Mocked Reeturn")
    }

    // Changed: `nextEncode` is the environment's own.
    @Test func `The environment's encoder fails by default and can be given a result`() throws {
        let jsonEncoder = world.encoder()
        #expect(throws: EncodingError.self) { try jsonEncoder.encode("anything") }
        environment.encoderMock.nextEncode = { _ in
            .success(Data())
        }
        let mockedEncoder = world.encoder()
        #expect(try mockedEncoder.encode("anything") == Data())
    }

    // Changed: `next` is the environment's own.
    @Test func `The environment's locale is American by default and can be replaced`() {
        let defaultLocale = world.locale()
        environment.locale.next = Locales.germany
        let mockedLocale = world.locale()
        #expect(defaultLocale == Locales.us)
        #expect(mockedLocale == Locales.germany)
    }

    // Changed: `next` is the environment's own.
    @Test func `The environment's date is the reference date by default and can be replaced`() {
        let defaultDate = world.now()
        environment.now.next = Date(timeIntervalSince1970: 1234)
        let mockedDate = world.now()
        #expect(defaultDate == Date(timeIntervalSinceReferenceDate: 0))
        #expect(mockedDate == Date(timeIntervalSince1970: 1234))
    }

    // Changed: `next` is the environment's own.
    @Test func `The environment's number formatter is American by default and can be replaced`() {
        let defaultNumberFormatter = world.numberFormatter()
        environment.numberFormatter.next = {
            let numberFormatter = NumberFormatter()
            numberFormatter.locale = Locales.china
            numberFormatter.numberStyle = .currency
            return numberFormatter
        }()
        let mockedNumberFormatter = world.numberFormatter()
        #expect(defaultNumberFormatter.string(from: 1.5) == "1.5")
        #expect(mockedNumberFormatter.string(from: 1.5) == "¥1.50")
    }

    // Changed: `next` is the environment's own.
    @Test func `The environment's time zone is GMT by default and can be replaced`() {
        let defaultTimeZone = world.timeZone()
        environment.timeZone.next = .init(secondsFromGMT: 3600) ?? .current
        let mockedTimeZone = world.timeZone()
        #expect(defaultTimeZone == .gmt)
        #expect(mockedTimeZone.secondsFromGMT() == 3600)
    }

    // Changed: the scheduler's time starts at zero instead of now, and a timer has a label.
    @Test func `The environment's scheduler runs a timer only when its time has come`() {
        let printed = Locked<[String]>([])
        let scheduler = world.mainScheduler
        environment.scheduler.advance(to: .origin)
        _ = scheduler.schedule(at: scheduler.now + .seconds(3), label: "print") {
            printed.withLock { $0.append("3 seconds later...") }
        }
        environment.scheduler.advance(by: .seconds(2))
        #expect(printed.withLock { $0 } == [])
        environment.scheduler.advance(by: .seconds(1))
        #expect(printed.withLock { $0 } == ["3 seconds later..."])
    }

    // Changed: the response belongs to the session, not to a handler that all sessions share; the task has a completion handler.
    @Test func `The environment's URL session delivers a mock response`() {
        let statuses = Locked<[Int?]>([])
        let defaultUrlSession = world.urlSession()
        environment.session.mockResponse = http404(from: github)
        defaultUrlSession
            .dataTask(with: URLRequest(url: github)) { _, response, _ in
                let status = (response as? HTTPURLResponse)?.statusCode
                statuses.withLock { $0.append(status) }
            }
            .resume()
        #expect(statuses.withLock { $0 } == [404])
    }

    // Changed: an async function instead of a publisher.
    @Test func `The environment's request function returns a mock response`() async throws {
        let defaultUrlRequester = world.urlRequest
        environment.session.mockResponse = http404(from: github)
        let (_, response) = try await defaultUrlRequester(URLRequest(url: github))
        #expect((response as? HTTPURLResponse)?.statusCode == 404)
    }

    // The document's motivation: no test waits in real time.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `An hour of virtual time passes at once`() async throws {
        let executor = TestExecutor(scheduler: environment.scheduler)
        try await executor.run { [world, environment] executor in
            let start = world.now()
            let task = executor.spawn { try? await environment.clock.sleep(for: .seconds(3_600)) }
            await executor.advance(by: .seconds(3_600))
            await task.value
            #expect(world.now() == start + 3_600)
        }
    }
}
