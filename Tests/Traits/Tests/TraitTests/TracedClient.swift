import Foundation
import InMemoryTracing
import MetricsTestKit
import PusherChannels
import TestSupport
import Tracing

/// A client in virtual time, whose spans and metrics stay in memory.
struct TracedClient {
    let tracer = InMemoryTracer()
    let metrics = TestMetrics()
    let scheduler = TestScheduler()
    let socket: MockWebSocket
    let session = MockSession(delivery: .immediate)
    let environment: PusherEnvironment
    let pusher: Pusher

    /// The wall clock when virtual time begins, in seconds.
    static let start: UInt64 = 1_000_000

    init(
        server: MockWebSocket.Server = .trusting,
        _ change: (inout PusherClientOptions, inout PusherEnvironment) -> Void = { _, _ in }
    ) {
        var options = PusherClientOptions(authMethod: .inline(secret: "s3cret"), host: .host("example.org"), delivery: .immediate)
        let (scheduler, socket) = (scheduler, MockWebSocket(server: server))
        self.socket = socket
        var environment = PusherEnvironment(
            scheduler: scheduler, httpSession: session, makeWebSocket: { socket },
            wallClock: { Date(timeIntervalSince1970: Double(Self.start) + scheduler.now.sinceOrigin / .seconds(1)) },
            randomSeed: { 1 })
        (environment.tracer, environment.metricsFactory) = (tracer, metrics)
        change(&options, &environment)
        self.environment = environment
        pusher = Pusher(key: "key", options: options, environment: environment)
    }

    /// Returns the spans that have ended, in the order of their ends.
    func spans(_ name: String? = nil) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { name == nil || $0.operationName == name }
    }

    /// Runs `body` within a span of the application, and returns that span's identifier.
    func within(_ body: () throws -> Void) rethrows -> String {
        try tracer.withSpan("request") { span in
            try body()
            return span.spanID
        }
    }
}

extension FinishedInMemorySpan {
    /// The times at which the span began and ended, in seconds of virtual time.
    var seconds: ClosedRange<UInt64> {
        let times = [startInstant, endInstant].map { $0.nanosecondsSinceEpoch / 1_000_000_000 - TracedClient.start }
        return times[0]...times[1]
    }

    subscript(_ name: String) -> String? {
        switch attributes.get(name) {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case nil: nil
        case .some(let other): "\(other)"
        }
    }

    /// Returns the values of several attributes.
    func values(_ names: String...) -> [String?] { names.map { self[$0] } }

    var names: Set<String> {
        var names: Set<String> = []
        attributes.forEach { name, _ in names.insert(name) }
        return names
    }
}
