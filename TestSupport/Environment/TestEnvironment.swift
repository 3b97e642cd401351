import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The environment of the code under test, controlled by one test: calendar, locale, time, formatters, coders, HTTP.
///
/// The defaults are the same on every machine: the Gregorian calendar, ``Locales/us``, GMT, January 1, 2001. Environments share
/// nothing, so tests may run in parallel. All members may be called from any thread.
///
/// ```swift
/// let environment = TestEnvironment()
/// environment.locale.next = Locales.germany
/// let world = World(locale: environment.locale.function, now: environment.now.function)
/// environment.scheduler.advance(by: .seconds(3))  // moves `now`, too
/// ```
public final class TestEnvironment: Sendable {
    /// Virtual time and its timers.
    public let scheduler: TestScheduler
    /// The session that responds to HTTP requests from stubs.
    public let session: MockSession

    /// The calendar; by default a Gregorian one with the environment's locale and time zone.
    public let calendar: MockValue<Calendar>
    /// The locale.
    public let locale: MockValue<Locale>
    /// The time zone.
    public let timeZone: MockValue<TimeZone>
    /// The date; by default it moves with the ``scheduler``.
    public let now: MockValue<Date>
    /// The date formatter; by default a new one each time, in medium style, with the environment's calendar, locale, and time
    /// zone.
    public let dateFormatter: MockValue<DateFormatter>
    /// The number formatter; by default a new one each time, for decimal numbers in the environment's locale.
    public let numberFormatter: MockValue<NumberFormatter>
    /// The decoder; by default ``decoderMock``.
    public let decoder: MockValue<AnyDecoder<Data>>
    /// The encoder; by default ``encoderMock``.
    public let encoder: MockValue<AnyEncoder<Data>>
    /// The mock behind ``decoder``.
    public let decoderMock: DecoderMock<Data>
    /// The mock behind ``encoder``.
    public let encoderMock: EncoderMock<Data>
    /// The real JSON decoder that the SDK uses.
    public let jsonDecoder: MockValue<JSONDecoder>
    /// The real JSON encoder that the SDK uses; by default it sorts keys.
    public let jsonEncoder: MockValue<JSONEncoder>
    /// The session for HTTP requests; by default ``session``.
    public let urlSession: MockValue<any HTTPSession>
    /// The seed of random generators.
    public let randomSeed: MockValue<UInt64>

    private let issueLog = IssueLog()

    /// Creates an environment.
    ///
    /// - Parameters:
    ///   - epoch: The date at the origin of the scheduler's clock.
    ///   - seed: The value of ``randomSeed``.
    ///   - scheduler: The virtual time; to keep another double in step, pass its scheduler.
    ///   - session: The session that responds to HTTP requests; by default one that responds within the call that makes the
    ///     request, with delays in `scheduler`'s time.
    public init(
        epoch: Date = Date(timeIntervalSinceReferenceDate: 0), seed: UInt64 = 0, scheduler: TestScheduler = TestScheduler(),
        session: MockSession? = nil
    ) {
        let session = session ?? MockSession(delivery: .immediate, scheduler: scheduler)
        self.scheduler = scheduler
        self.session = session
        let issues = issueLog
        let locale = MockValue("locale", issues: issues) { Locales.us }
        let timeZone = MockValue("timeZone", issues: issues) { TimeZone.gmt }
        let calendar = MockValue("calendar", issues: issues) {
            var calendar = Calendar(identifier: .gregorian)
            calendar.locale = locale.next
            calendar.timeZone = timeZone.next
            return calendar
        }
        self.locale = locale
        self.timeZone = timeZone
        self.calendar = calendar
        now = MockValue("now", issues: issues) { epoch.addingTimeInterval(scheduler.now.sinceOrigin / .seconds(1)) }
        dateFormatter = MockValue("dateFormatter", issues: issues) {
            let formatter = DateFormatter()
            formatter.calendar = calendar.next
            formatter.locale = locale.next
            formatter.timeZone = timeZone.next
            formatter.dateStyle = .medium
            formatter.timeStyle = .medium
            return formatter
        }
        numberFormatter = MockValue("numberFormatter", issues: issues) {
            let formatter = NumberFormatter()
            formatter.locale = locale.next
            formatter.numberStyle = .decimal
            return formatter
        }
        let (decoderMock, encoderMock) = (DecoderMock<Data>(issues: issues), EncoderMock<Data>(issues: issues))
        self.decoderMock = decoderMock
        self.encoderMock = encoderMock
        decoder = MockValue("decoder", issues: issues) { decoderMock.decoder }
        encoder = MockValue("encoder", issues: issues) { encoderMock.encoder }
        jsonDecoder = MockValue("jsonDecoder", issues: issues) { JSONDecoder() }
        jsonEncoder = MockValue("jsonEncoder", issues: issues) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return encoder
        }
        urlSession = MockValue("urlSession", issues: issues) { session }
        randomSeed = MockValue("randomSeed", issues: issues) { seed }
    }

    /// A clock for async code, in the scheduler's time.
    public var clock: TestClock { TestClock(scheduler) }

    /// A closure that makes a request over ``urlSession``, for a struct of closures.
    ///
    /// It throws the session's error, or `URLError.badServerResponse` if there is no HTTP response.
    public var request: @Sendable (URLRequest) async throws -> (Data, URLResponse) {
        { [urlSession] request in
            let reply = try await urlSession().response(to: request)
            return (reply.body, reply.response)
        }
    }

    /// Creates a mock of something that the environment doesn't have, under the same rules.
    public func mock<Value: Sendable>(_ name: String, default makeDefault: @escaping @Sendable () -> Value) -> MockValue<Value> {
        MockValue(name, issues: issueLog, default: makeDefault)
    }

    // MARK: Strictness

    /// The things that the code under test did but wasn't supposed to do, in order. A passing test leaves none.
    public var issues: [String] { issueLog.all }

    /// Makes every use an issue, until ``MockValue/next`` or another outcome is set for the things that the test needs.
    public func unimplemented() {
        calendar.unimplemented()
        locale.unimplemented()
        timeZone.unimplemented()
        now.unimplemented()
        dateFormatter.unimplemented()
        numberFormatter.unimplemented()
        decoder.unimplemented()
        encoder.unimplemented()
        decoderMock.unimplemented()
        encoderMock.unimplemented()
        jsonDecoder.unimplemented()
        jsonEncoder.unimplemented()
        urlSession.unimplemented()
        randomSeed.unimplemented()
    }
}
