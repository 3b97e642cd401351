import Dispatch
import Logging

/// The log: the one place where lines are written, for the logger and for the delegate.
extension ClientCore {
    /// Queues a line, so it is written in order, unless there are too many like it. Called under the lock.
    func log(_ line: LogLine, at now: Instant, _ state: inout State) {
        logWhatWasLeftOut(at: now, &state, isLast: line.message == .disconnected)
        if state.telemetry.logLimiter.admits(line) { queue(line, at: now, &state) }
    }

    func log(_ line: LogLine) {
        change { state, now in log(line, at: now, &state) }
    }

    func logWhatWasLeftOut(at now: Instant, _ state: inout State, isLast: Bool = false) {
        for line in state.telemetry.logLimiter.takeSummaries(at: now, isLast: isLast) { queue(line, at: now, &state) }
    }

    private func queue(_ line: LogLine, at now: Instant, _ state: inout State) {
        let host = state.outbox.otherHost(state.machine.session.servers.current)
        let context = LogContext(of: state.machine, at: now, for: line, host: host)
        let isLogged = line.level.swiftLogLevel >= telemetry.logger.logLevel
        if isLogged { state.telemetry.logLimiter.noteWaiting(1) }
        if isLogged || calls.queue == nil { state.outbox.commands.append(.log(line, context)) }
        guard calls.queue != nil, state.listeners.hasDelegate, state.backlog.admitsLines else { return }
        let text = line.text(context)
        state.backlog.add(count: 1, bytes: text.utf8.count)
        state.telemetry.tally.noteWaiting(1)
        state.router.queue(
            .call { [self] in
                readState(\.listeners.delegate)?.debugLog(message: text)
                delivered(1, bytes: text.utf8.count)
            })
    }

    /// Logs the number of deliveries that still wait, if there are any.
    func logUndelivered() {
        change { state, now in
            let count = state.backlog.watermark.count
            if count > 0 { log(.undelivered(count), at: now, &state) }
        }
    }

    /// Writes a line, outside the lock. The log handler is the application's, and may be slow: unless everything is to happen at
    /// once, it isn't called on the thread of a connection.
    func write(_ line: LogLine, _ context: LogContext?) {
        let level = line.level.swiftLogLevel
        if level >= telemetry.logger.logLevel {
            // Made here, because a line may hold a server's megabytes, and its fields don't.
            let metadata = Logger.Metadata(line.fields(context))
            let write = { @Sendable [logger = telemetry.logger, weak self] in
                logger.log(level: level, Logger.Message(stringLiteral: line.message.rawValue), metadata: metadata)
                self?.withState { $0.telemetry.logLimiter.noteWaiting(-1) }
            }
            if calls.queue == nil { write() } else { environment.log(write) }
        }
        if calls.queue == nil { delegate?.debugLog(message: line.text(context)) }
    }
}

extension LogLine {
    /// Returns the line's own fields and those of its context.
    fileprivate func fields(_ context: LogContext?) -> [LogField] {
        fields + (context?.fields ?? [])
    }

    /// Returns the line as a developer's delegate gets it: the message, followed by the fields.
    fileprivate func text(_ context: LogContext?) -> String {
        ([message.rawValue] + fields(context).map { $0.key.rawValue + "=" + $0.quoted }).joined(separator: " ")
    }
}

extension Logger.Metadata {
    init(_ fields: [LogField]) {
        self.init(uniqueKeysWithValues: fields.map { ($0.key.rawValue, .string($0.value)) })
    }
}

extension LogLevel {
    fileprivate var swiftLogLevel: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}

extension Delivery {
    /// The log line for the delivery; nil for events and members, which are the application's business.
    var logLine: LogLine? {
        switch self {
        case .stateChanged(_, let state, let reason): .state(state, because: reason)
        case .gap(let channel, _): .gap(channel)
        case .recovered(let channel, let count): .recovered(channel, count: count)
        case .subscribed(let channel, _): .subscribed(channel)
        case .subscriptionFailed(let channel, let failure):
            .subscriptionFailed(channel, failure.error, isRepeated: failure.isRepeated)
        case .signedIn: .signedIn
        // The machine decides what the log has of errors: one line for a failed attempt.
        case .event, .userEvent, .memberAdded, .memberRemoved, .subscriptionCount, .watchlist, .decryptionFailed, .signInFailed,
            .serverError, .report:
            nil
        }
    }
}
