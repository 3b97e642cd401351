import Logging
import PusherChannels

/// The log of a harness: in its timeline, where a failed test tells it and a passed one is silent, and for a test to read.
final class TestLog: Sendable {
    private let timeline: Timeline
    private let story = Locked<[LogEvent]>([])

    init(timeline: Timeline) {
        self.timeline = timeline
    }

    var events: [LogEvent] { story.withLock { $0 } }

    /// - Parameter context: Fields that the logger adds to each of its lines; too much for the story.
    fileprivate func add(_ event: LogEvent, in context: Logger.Metadata) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        timeline.note("log", "\(event.level): \(event.message)\(fields)")
        var event = event
        event.metadata = context.merging(event.metadata ?? [:]) { $1 }
        story.withLock { [event] story in story.append(event) }
    }
}

/// Writes into a ``TestLog``.
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

extension TestHarness {
    /// Makes a logger for code under test, whose lines are in ``timeline`` and in ``logEvents(atLeast:)`` of this harness alone.
    ///
    /// The harness's clients have one already. It logs from level `debug` on unless its `logLevel` is changed.
    public func makeLogger(_ label: String) -> Logger {
        Logger(label: label) { [log] _ in TestLogHandler(log: log) }
    }

    /// Returns what was logged, in order.
    ///
    /// ```swift
    /// #expect(harness.logEvents(atLeast: .warning).isEmpty)
    /// ```
    ///
    /// - Parameter level: The least that counts.
    public func logEvents(atLeast level: Logger.Level = .trace) -> [LogEvent] {
        log.events.filter { $0.level >= level }
    }
}
