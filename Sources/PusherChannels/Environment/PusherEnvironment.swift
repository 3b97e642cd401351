import Foundation

#if canImport(Logging)
import Logging
#endif
#if Metrics
import CoreMetrics
#endif

#if Tracing
import Tracing
#endif

/// Everything that the SDK takes from outside: time, sockets, HTTP, randomness, JSON coders, tasks.
///
/// Nothing else in the SDK reads a clock, draws a random number or starts a task, except for the network stack below the sockets
/// and the nonces of encrypted events, which use the system's. Replace a part to test with it, or to bring your own.
public struct PusherEnvironment: Sendable {
    /// The clock and the timers.
    public var scheduler: any Scheduler

    /// Makes the requests to authorization endpoints and the HTTP API.
    ///
    /// If a client's ``PusherClientOptions/tls`` or ``PusherClientOptions/proxy`` isn't the default, a ``RoutedHTTPSession``
    /// makes its requests with these settings; any other session, such as your own `URLSession`, ignores them.
    public var httpSession: any HTTPSession

    /// Makes the socket of a connection; one socket serves all of a connection's attempts.
    public var makeWebSocket: @Sendable () -> any WebSocket

    /// The wall clock, which signed HTTP API requests carry.
    public var wallClock: @Sendable () -> Date

    /// Seeds a connection's random generator, from which reconnection takes its jitter, and makes the keys of
    /// ``RetryPolicy/Guarantee/idempotent`` publishes: those made from equal seeds are one publish to the server.
    public var randomSeed: @Sendable () -> UInt64

    /// Makes the decoder behind ``PusherEvent/decode(_:)``. Unless it is set, events are decoded as a `JSONDecoder()` decodes
    /// them, but faster.
    public var jsonDecoder: @Sendable () -> JSONDecoder {
        get { customDecoder ?? { JSONDecoder() } }
        set { customDecoder = newValue }
    }

    /// The application's decoder; `nil` for the default.
    private(set) var customDecoder: (@Sendable () -> JSONDecoder)?

    /// Makes the encoder for the payload of client events and the bodies of HTTP API requests.
    public var jsonEncoder: @Sendable () -> JSONEncoder

    /// Runs asynchronous user code, such as ``AuthMethod/customHandler(_:)``.
    public var spawn: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// Calls log handlers, one after the other, and not on a thread that serves connections, unless there can't be another. In
    /// virtual time, which can't wait for another thread, calls them at once.
    package var log: @Sendable (_ line: @escaping @Sendable () -> Void) -> Void

    private static let lines = BackgroundWork("pusher-log")

    /// Receives each delegate that a client is given, including those of the main actor. Tests use it to find delegates that
    /// can't be notified.
    package var onDelegate: (@Sendable (_ delegate: AnyObject, _ isClientAlive: @escaping @Sendable () -> Bool) -> Void)?

    #if canImport(Logging)
    /// Returns the logger to use in the place of a client's. Tests use it for clients that the code under test makes.
    package var clientLogger: (@Sendable (Logger) -> Logger)?
    #endif

    /// Receives each client that is made. Tests use it to find clients that outlive their test.
    package var onClient: (@Sendable (_ client: any AnyObject & CustomStringConvertible & Sendable) -> Void)?

    #if Metrics || Tracing
    /// The names of metrics and of the attributes of spans.
    public var telemetryNames = TelemetryNames.pusher
    #endif

    #if Metrics
    /// Makes the clients' metrics if the trait `Metrics` is on; `nil` stands for the factory with which `MetricsSystem` was
    /// bootstrapped when the client is made.
    public var metricsFactory: (any MetricsFactory)?
    #endif

    #if Tracing
    /// Makes the spans if the trait `Tracing` is on, and carries their contexts into requests; `nil` stands for the one with
    /// which `InstrumentationSystem` was bootstrapped, even if that happens later.
    public var tracer: (any Tracer)?
    #endif

    init(
        of scheduler: any Scheduler, _ httpSession: any HTTPSession, _ makeWebSocket: @escaping @Sendable () -> any WebSocket,
        _ wallClock: @escaping @Sendable () -> Date, _ randomSeed: @escaping @Sendable () -> UInt64,
        _ jsonDecoder: (@Sendable () -> JSONDecoder)?, _ jsonEncoder: @escaping @Sendable () -> JSONEncoder,
        _ spawn: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    ) {
        self.scheduler = scheduler
        log = if scheduler is LiveScheduler { Self.lines.perform } else { { $0() } }
        self.httpSession = httpSession
        self.makeWebSocket = makeWebSocket
        self.wallClock = wallClock
        self.randomSeed = randomSeed
        customDecoder = jsonDecoder
        self.jsonEncoder = jsonEncoder
        self.spawn = spawn
    }

    /// Returns the wall clock's time at an instant of the scheduler's clock.
    func date(_ instant: Instant) -> Date {
        wallClock().addingTimeInterval((instant - scheduler.now) / .seconds(1))
    }
}
