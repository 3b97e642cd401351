import Logging
import PusherChannels

/// Records the lines that a client logs: the level, the metadata in the order of its keys, and the message.
package struct LineRecorder: LogHandler {
    package let lines: Locked<[String]>
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.trace

    /// Returns a logger that records its lines in `lines`.
    package static func logger(_ lines: Locked<[String]>) -> Logger {
        Logger(label: "test") { _ in LineRecorder(lines: lines) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let text = all.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        lines.withLock { $0.append("\(event.level) [\(text)] \(event.message)") }
    }
}

/// A sequence of values that one task sends to another, in order.
package struct Note<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func send(_ value: Value) {
        continuation.yield(value)
    }

    /// Ends the sequence.
    package func finish() {
        continuation.finish()
    }

    package func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}
