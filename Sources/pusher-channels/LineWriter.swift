import Dispatch
import Foundation
import Logging
import PusherChannels

/// Writes lines on its own thread, so no other thread waits for a reader that has stopped.
final class LineWriter: Sendable {
    private let queue = DispatchQueue(label: "lines")
    private let state = Locked((waiting: 0, leftOut: 0))
    private let write: @Sendable (String) -> Void
    private let limit: Int

    /// - Parameters:
    ///   - limit: The number of lines that may wait; further lines are left out, and counted.
    ///   - write: Writes a line, and may block for as long as it likes.
    init(limit: Int = 10_000, write: @escaping @Sendable (String) -> Void) {
        self.limit = limit
        self.write = write
    }

    /// Adds a line that begins with the present time.
    func tell(_ text: String) {
        add("\(Date().onClock) \(text)")
    }

    func add(_ line: String) {
        let isTaken = state.withLock { state in
            let isTaken = state.waiting < limit
            if isTaken { state.waiting += 1 } else { state.leftOut += 1 }
            return isTaken
        }
        guard isTaken else { return }
        queue.async { [self] in
            write(line)
            let leftOut = state.withLock { state in
                state.waiting -= 1
                guard state.waiting == 0 else { return 0 }
                defer { state.leftOut = 0 }
                return state.leftOut
            }
            if leftOut > 0 { write("\(leftOut) lines were left out, because nobody read them") }
        }
    }

    /// Waits until everything is written, or until that takes too long.
    func finish(within patience: DispatchTimeInterval) {
        let written = DispatchSemaphore(value: 0)
        queue.async { written.signal() }
        _ = written.wait(timeout: .now() + patience)
    }
}

/// A log in lines for a person, of everything that is logged.
struct LineLog: LogHandler {
    let lines: LineWriter
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map {
            // In quotation marks where it isn't a plain word, so that no server's text passes for another field.
            $0.key + "=" + "\($0.value)".asLogValue(upTo: 1_100)
        }
        lines.tell((["\(event.level)", "\(event.message)"] + fields).joined(separator: " ").onOneLine)
    }
}
