/// The importance of a log line.
enum LogLevel: Equatable, Sendable {
    case trace
    case debug
    case info
    case warning
    case error
}

/// A line of the log: an event and its subject. Its message is a constant.
///
/// It is a value until somebody reads it, so no text is made of a line whose level isn't logged.
enum LogLine: Equatable, Sendable {
    case state(ConnectionState, because: PusherError?)
    case error(PusherError)
    case clientReleased
    case shutDown
    case undelivered(Int)
    /// Lines of a kind that were too many.
    case leftOut(LogMessage, count: Int, LogLevel)
    case establishedTwice
    case pauseLimitReached(Duration)
    case streamNotRead(String, channel: Name?)
    case subscribed(Name)
    case gap(Name)
    /// What a channel missed was replayed.
    case recovered(Name, count: Int)
    case notRecovered(Name, problem: String)
    case subscriptionFailed(Name, PusherError, isRepeated: Bool)
    case signedIn
    case signInFailed(PusherError, isRepeated: Bool)
    case unknownEvent(Name)
    case eventDropped(Name, channel: Name)
    case notTriggered(Name, channel: Name, PusherError)
    case notDecrypted(Name, channel: Name, problem: String)
    case staleAuthorization(Name)
    case staleUserAuthorization
    case subscribedUnasked(Name)
    case signedInUnasked
    /// A followed channel's state was loaded.
    case loaded(Name, Duration)
    case notLoaded(Name, problem: String)
    /// The text of a message from the server, without secrets.
    case received(String)
    /// A message to the server, without secrets.
    case sent(String)

    var message: LogMessage {
        switch self {
        case .state(.connecting, _): .connecting
        case .state(.connected, _): .connected
        case .state(.disconnecting, _): .disconnecting
        case .state(.disconnected, _): .disconnected
        case .state(.reconnecting, _): .reconnecting
        case .error: .error
        case .clientReleased: .clientReleased
        case .shutDown: .shutDown
        case .undelivered: .undelivered
        case .leftOut: .leftOut
        case .establishedTwice: .establishedTwice
        case .pauseLimitReached: .pauseLimitReached
        case .streamNotRead: .streamNotRead
        case .subscribed: .subscribed
        case .gap: .gap
        case .recovered: .recovered
        case .notRecovered: .notRecovered
        case .subscriptionFailed: .notSubscribed
        case .signedIn: .signedIn
        case .signInFailed: .notSignedIn
        case .unknownEvent: .unknownEvent
        case .eventDropped: .eventDropped
        case .notTriggered: .notTriggered
        case .notDecrypted: .notDecrypted
        case .staleAuthorization: .staleAuthorization
        case .staleUserAuthorization: .staleUserAuthorization
        case .subscribedUnasked: .subscribedUnasked
        case .signedInUnasked: .signedInUnasked
        case .loaded: .loaded
        case .notLoaded: .notLoaded
        case .received: .received
        case .sent: .sent
        }
    }

    var level: LogLevel {
        switch self {
        // The client gave up: nothing connects it again automatically.
        case .state(.disconnected, because: .some): .error
        case .state(_, because: .some(let reason)): reason.isOrdinaryClose ? .info : .warning
        case .error, .shutDown, .undelivered, .establishedTwice, .pauseLimitReached, .streamNotRead, .notDecrypted, .notLoaded:
            .warning
        case .subscriptionFailed(_, _, let isRepeated), .signInFailed(_, let isRepeated): isRepeated ? .debug : .warning
        // Events that are refused only because of a limit may be so many that they would flood the log.
        case .notTriggered(_, _, let error): error.isRetryable ? .debug : .warning
        case .leftOut(_, _, let level): level
        case .state(.connected, because: nil), .clientReleased, .gap, .recovered, .notRecovered: .info
        case .state(_, because: nil), .subscribed, .signedIn, .unknownEvent, .eventDropped, .staleAuthorization,
            .staleUserAuthorization, .subscribedUnasked, .signedInUnasked, .loaded:
            .debug
        case .received, .sent: .trace
        }
    }

    /// The fields of the line itself, without those of its context.
    var fields: [LogField] {
        switch self {
        case .state(_, let reason): reason?.logFields ?? []
        case .error(let error), .signInFailed(let error, _): error.logFields
        case .subscriptionFailed(let channel, let error, _): [LogField(.channel, channel)] + error.logFields
        case .pauseLimitReached(let limit): [LogField(.limit, limit)]
        case .undelivered(let count): [LogField(.count, String(count))]
        case .leftOut(let message, let count, _): [LogField(.line, message.rawValue), LogField(.count, String(count))]
        case .streamNotRead(let stream, let channel):
            (channel.map { [LogField(.channel, $0)] } ?? []) + [LogField(.stream, stream.asMessage)]
        case .subscribed(let channel), .gap(let channel), .staleAuthorization(let channel), .subscribedUnasked(let channel):
            [LogField(.channel, channel)]
        case .unknownEvent(let event): [LogField(.event, event)]
        case .eventDropped(let event, let channel): [LogField(.channel, channel), LogField(.event, event)]
        case .notTriggered(let event, let channel, let error):
            [LogField(.channel, channel), LogField(.event, event)] + error.logFields
        case .notDecrypted(let event, let channel, let problem):
            [LogField(.channel, channel), LogField(.event, event), LogField(.error, problem.asMessage, upTo: 1000)]
        case .loaded(let channel, let time): [LogField(.channel, channel), LogField(.time, time)]
        case .recovered(let channel, let count): [LogField(.channel, channel), LogField(.count, String(count))]
        case .notLoaded(let channel, let problem), .notRecovered(let channel, let problem):
            [LogField(.channel, channel), LogField(.error, problem.asMessage, upTo: 1000)]
        case .received(let text), .sent(let text): [LogField(.text, text.asMessage, upTo: 1000)]
        case .clientReleased, .shutDown, .establishedTwice, .signedIn, .staleUserAuthorization, .signedInUnasked: []
        }
    }
}

/// The state of the connection when a line was written.
struct LogContext: Equatable, Sendable {
    private let attempt: ConnectionAttempt
    private let socketID: SocketID?
    private let delay: Duration?

    /// The server's host if it isn't the client's first one.
    private let host: String?

    init(of machine: ConnectionMachine, at now: Instant, for line: LogLine, host: String? = nil) {
        self.host = host
        attempt = machine.attempt
        socketID = machine.session.lastSocketID
        let next =
            if case .subscriptionFailed(let channel, _, _) = line { machine.nextTry(of: channel) } else { machine.nextAttempt }
        delay = next.map { $0 - now }
    }

    var fields: [LogField] {
        let attempt = attempt.number > 0 ? LogField(.attempt, String(attempt.number)) : nil
        return [
            attempt, socketID.map { LogField(.socketID, $0.text) }, delay.map { LogField(.delay, $0) },
            host.map { LogField(.host, $0) },
        ].compactMap(\.self)
    }
}

extension ConnectionMachine {
    /// Returns the time at which a failed channel is retried automatically.
    fileprivate func nextTry(of channel: Name) -> Instant? {
        if case .retrying(let time) = subscriptions[channel]?.state { time } else { nil }
    }
}

extension PusherError {
    /// Indicates whether a server closed the connection as it does when it restarts or sends its clients elsewhere.
    fileprivate var isOrdinaryClose: Bool {
        kind == .server && code.flatMap(UInt16.init(exactly:)).map { !CloseCode($0).deservesReport } == true
    }

    fileprivate var logFields: [LogField] {
        let code = code.map { LogField(.code, String($0)) }
        return [LogField(.error, message, upTo: 1000), LogField(.kind, kind.name), code].compactMap(\.self)
    }
}

extension PusherError.Kind {
    fileprivate var name: String {
        switch self {
        case .server: "server"
        case .transport: "transport"
        case .timedOut: "timedOut"
        case .malformedMessage: "malformedMessage"
        case .authorization: "authorization"
        case .subscriptionRefused: "subscriptionRefused"
        case .invalidRequest: "invalidRequest"
        case .readerTooSlow: "readerTooSlow"
        case .loadPostponed: "loadPostponed"
        case .tooManyClientEvents: "tooManyClientEvents"
        case .httpAPI: "httpAPI"
        case .attemptsExhausted: "attemptsExhausted"
        }
    }
}
