import Foundation
import PusherChannels
import TestSupport
import Testing

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
    @Test func `Each of the environment's dependencies has a default and can be replaced`() {
        #expect(world.calendar().identifier == .gregorian)
        environment.calendar.next = .init(identifier: .buddhist)
        #expect(world.calendar().identifier == .buddhist)
        #expect(world.locale() == Locales.us)
        environment.locale.next = Locales.germany
        #expect(world.locale() == Locales.germany)
        #expect(world.timeZone() == .gmt)
        environment.timeZone.next = .init(secondsFromGMT: 3600) ?? .current
        #expect(world.timeZone().secondsFromGMT() == 3600)
        #expect(world.now() == Date(timeIntervalSinceReferenceDate: 0))
        environment.now.next = Date(timeIntervalSince1970: 1234)
        #expect(world.now() == Date(timeIntervalSince1970: 1234))
        environment.dateFormatter.next = {
            let dateFormatter = DateFormatter()
            dateFormatter.timeZone = .init(secondsFromGMT: 0)
            dateFormatter.locale = Locales.china
            dateFormatter.calendar = .init(identifier: .chinese)
            dateFormatter.dateStyle = .full
            return dateFormatter
        }()
        #expect(world.dateFormatter().string(from: Date(timeIntervalSinceReferenceDate: 0)).contains("腊月"))
        environment.numberFormatter.next = {
            let numberFormatter = NumberFormatter()
            numberFormatter.locale = Locales.china
            numberFormatter.numberStyle = .currency
            return numberFormatter
        }()
        #expect(world.numberFormatter().string(from: 1.5) == "¥1.50")
    }
}
