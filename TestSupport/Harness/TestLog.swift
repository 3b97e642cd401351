import Logging
import PusherChannels

/// The log of a harness. It is part of the timeline, which only a failed test prints, and can be read by a test.
final class TestLog: Sendable {
    private let timeline: Timeline
    private let story = Locked<[LogEvent]>([])

    init(timeline: Timeline) {
        self.timeline = timeline
    }

    var events: [LogEvent] { story.withLock { $0 } }

    /// - Parameter context: The fields that the logger adds to each of its lines; they would be too much for the timeline.
    fileprivate func add(_ event: LogEvent, in context: Logger.Metadata) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        timeline.note("log", "\(event.level): \(event.message)\(fields)")
        var event = event
        event.metadata = context.merging(event.metadata ?? [:]) { $1 }
        story.withLock { [event] story in story.append(event) }
    }
}

/// A log handler that writes to a ``TestLog``.
private struct TestLogHandler: LogHandler {
    let log: TestLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.add(event, in: metadata)
    }
}

extension TestLog {
    /// Returns the logger for a client that code under test makes. One of the app's own is kept: the test may read it.
    static func logger(_ log: TestLog, inPlaceOf logger: Logger) -> Logger {
        guard logger.label == PusherClientOptions().logger.label else { return logger }
        return Logger(label: logger.label) { _ in TestLogHandler(log: log) }
    }
}

extension TestHarness {
    /// Makes a logger for code under test. Its lines appear only in this harness's ``timeline`` and ``logEvents(atLeast:)``.
    ///
    /// The harness's clients already have one. It logs at level `debug` and above unless its `logLevel` is changed.
    public func makeLogger(_ label: String) -> Logger {
        Logger(label: label) { [log] _ in TestLogHandler(log: log) }
    }

    /// Returns the logged events, in order.
    ///
    /// ```swift
    /// #expect(harness.logEvents(atLeast: .warning).isEmpty)
    /// ```
    ///
    /// - Parameter level: The minimum level.
    public func logEvents(atLeast level: Logger.Level = .trace) -> [LogEvent] {
        log.events.filter { $0.level >= level }
    }
}
