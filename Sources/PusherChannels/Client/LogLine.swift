/// A line for the log; no secret is ever in one.
struct LogLine: Equatable {
    let level: LogLevel
    let message: String
    var channel: Name?

    /// The line as a developer's delegate gets it.
    var text: String { channel.map { "\($0.inLogLine): \(message)" } ?? message }
}

extension Delivery {
    /// The line that the log gets; nothing of events and members, which are the application's matter.
    var logLine: LogLine? {
        switch self {
        case .stateChanged(_, let state, nil):
            LogLine(level: .debug, message: "\(state)")
        case .stateChanged(_, let state, let reason?):
            LogLine(level: .info, message: "\(state): \(reason)")
        case .gap(let channel, _):
            LogLine(level: .info, message: "subscribed again; events sent meanwhile may be missing", channel: channel)
        case .subscribed(let channel):
            LogLine(level: .debug, message: "subscribed", channel: channel)
        case .subscriptionFailed(let channel, let failure):
            LogLine(level: .warning, message: "not subscribed: \(failure.error)", channel: channel)
        case .signedIn:
            LogLine(level: .debug, message: "the user is signed in")
        case .signInFailed(let error):
            LogLine(level: .warning, message: "the user is not signed in: \(error)")
        case .error(let error):
            LogLine(level: .warning, message: error.description)
        case .event, .userEvent, .memberAdded, .memberRemoved, .subscriptionCount, .watchlist, .decryptionFailed:
            nil
        }
    }
}
