import Logging

/// Writes a client's log into a ``Timeline``, where a failed test tells it and a passed one is silent.
struct TimelineLogHandler: LogHandler {
    let timeline: Timeline
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        timeline.note("log", "\(event.level): \(event.message)\(fields)")
    }
}
