/// Decides which lines a client writes to its log. A server can cause a line with a few bytes, thousands of times a second, and a log
/// handler may be slow or stuck: neither must fill a disk or the memory.
struct LogLimiter: Sendable {
    /// The number of lines of one kind that are written in a minute. Of messages that are traced, none is left out.
    static let limit = 100
    /// The number for channels that aren't subscribed, which tend to have one reason.
    static let failureLimit = 10
    /// The number of lines that may wait for the log handler.
    static let waitingLimit = 1000

    private var end = Instant.origin
    private var written: [LogMessage: Int] = [:]
    private var leftOut: [LogMessage: (count: Int, level: LogLevel)] = [:]
    private var waiting = 0

    /// Returns whether to write a line, and counts it.
    mutating func admits(_ line: LogLine) -> Bool {
        let limit = line.message == .notSubscribed ? Self.failureLimit : Self.limit
        let isOverLimit = line.level != .trace && written[line.message, default: 0] >= limit
        guard !isOverLimit, waiting < Self.waitingLimit else {
            leftOut[line.message, default: (0, line.level)].count += 1
            return false
        }
        written[line.message, default: 0] += 1
        return true
    }

    /// Notes that a line was handed to the log handler, or that the handler is done with one.
    mutating func noteWaiting(_ lines: Int) {
        waiting += lines
    }

    /// Returns the lines that say what was left out, once a minute is over.
    ///
    /// - Parameter isLast: Indicates whether to return them before that, as nothing may follow.
    mutating func takeSummaries(at now: Instant, isLast: Bool = false) -> [LogLine] {
        guard now >= end || isLast else { return [] }
        end = now + .seconds(60)
        written = [:]
        defer { leftOut = [:] }
        return LogMessage.allCases.compactMap { message in
            leftOut[message].map { .leftOut(message, count: $0.count, $0.level) }
        }
    }

    /// Indicates whether there are such lines.
    func hasSummaries(at now: Instant) -> Bool { !leftOut.isEmpty && now >= end }
}
