@testable import PusherChannels

/// Plays inputs to a connection machine, one at a time, in virtual time that passes only on request.
struct Transcript {
    private(set) var machine: ConnectionMachine
    private(set) var now: Instant = .origin

    init(_ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }, seed: UInt64 = 1) {
        var configuration = ConnectionMachine.Configuration()
        // So that pings are those that a test is about.
        configuration.keepAlive = .seconds(3600)
        change(&configuration)
        machine = ConnectionMachine(configuration: configuration, seed: seed)
    }

    static func connected(
        activityTimeout: Int = 120, _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }, seed: UInt64 = 1
    ) -> Transcript {
        var transcript = Transcript(change, seed: seed)
        transcript.play(.connect)
        transcript.establish(activityTimeout: activityTimeout)
        return transcript
    }

    /// Creates a transcript that begins after the socket was opened, before the connection is established.
    static func opened(_ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }) -> Transcript {
        var transcript = Transcript(change)
        transcript.play(.connect)
        transcript.play(.socketOpened(transcript.attempt))
        return transcript
    }

    static func subscribing(
        to channel: Name, auth: PusherAuth? = nil, _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }
    ) -> Transcript {
        var transcript = Transcript.connected(change)
        transcript.play(.subscribe(channel: channel, auth: auth))
        return transcript
    }

    static func subscribed(
        to channel: Name, auth: PusherAuth? = nil, _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }
    ) -> Transcript {
        var transcript = Transcript.subscribing(to: channel, auth: auth, change)
        transcript.succeed(channel)
        return transcript
    }

    var attempt: ConnectionAttempt { machine.attempt }

    @discardableResult
    mutating func play(_ input: Input) -> [Output] {
        machine.handle(input, at: now)
        return machine.takeOutputs()
    }

    @discardableResult
    mutating func play(_ first: Input, _ second: Input) -> [Output] {
        play(first) + play(second)
    }

    @discardableResult
    mutating func establish(activityTimeout: Int = 120) -> [Output] {
        play(.socketOpened(attempt))
            + receive(
                #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"1.\#(attempt.number)\",\"activity_timeout\":\#(activityTimeout)}"}"#
            )
    }

    mutating func trigger(_ event: ClientEvent) -> TriggerResult {
        defer { _ = machine.takeOutputs() }
        return machine.trigger(event, at: now)
    }

    @discardableResult
    mutating func subscribe(_ channel: Name, auth: PusherAuth? = nil, options: SubscriptionOptions? = nil) -> [Output] {
        play(.subscribe(channel: channel, auth: auth, options: options))
    }

    @discardableResult
    mutating func unsubscribe(_ channel: Name) -> [Output] {
        play(.unsubscribe(channel: channel))
    }

    @discardableResult
    mutating func authorize(_ attempt: SubscriptionAttempt, _ auth: PusherAuth = .signed) -> [Output] {
        play(.authorized(attempt, .success(auth)))
    }

    @discardableResult
    mutating func receive(_ text: String) -> [Output] {
        play(Self.input(text, attempt, machine.configuration.protocol))
    }

    @discardableResult
    mutating func receiveError(_ message: String = "no", code: Int? = nil, channel: Name? = nil) -> [Output] {
        let named = channel.map { #""channel":"\#($0)","# } ?? ""
        let code = code.map { "\($0)" } ?? "null"
        return receive(#"{"event":"pusher:error",\#(named)"data":{"code":\#(code),"message":"\#(message)"}}"#)
    }

    @discardableResult
    mutating func receiveRefusal(of channel: Name, status: Int = 403) -> [Output] {
        receive(#"{"event":"pusher:subscription_error","channel":"\#(channel)","data":{"status":\#(status),"error":"no"}}"#)
    }

    /// Receives the server's confirmation of a subscription.
    @discardableResult
    mutating func succeed(_ channel: Name) -> [Output] {
        receive(#"{"event":"pusher_internal:subscription_succeeded","channel":"\#(channel)","data":"{}"}"#)
    }

    static func input(_ text: String, _ attempt: ConnectionAttempt, _ protocol: PusherProtocol = .pusher) -> Input {
        input(text.utf8, attempt, `protocol`)
    }

    static func input(
        _ bytes: some Sequence<UInt8>, _ attempt: ConnectionAttempt, _ protocol: PusherProtocol = .pusher
    ) -> Input {
        switch EnvelopeDecoder.decode(bytes, `protocol`) {
        case .success(let message): .received(message, attempt)
        case .failure(let frame): .receivedMalformed(frame, attempt)
        }
    }

    @discardableResult
    mutating func close(_ code: UInt16, _ reason: String = "") -> [Output] {
        play(.socketClosed(.closed(code: code, reason: reason), attempt))
    }

    /// Loses the socket without a close.
    @discardableResult
    mutating func fail(_ kind: TransportError.Kind = .connectionLost, _ message: String = "lost") -> [Output] {
        play(.socketClosed(.failed(TransportError(kind, message)), attempt))
    }

    /// Loses the connection, and passes to the next attempt.
    mutating func drop() {
        close(1006)
        passToDeadline()
    }

    /// Loses the connection, and establishes the next one.
    @discardableResult
    mutating func reconnect() -> [Output] {
        drop()
        return establish()
    }

    /// Establishes the next connection, which the server asks for when it closes this one.
    @discardableResult
    mutating func restart() -> [Output] {
        close(4200)
        return establish()
    }

    /// Lets time pass and handles each deadline when it comes.
    @discardableResult
    mutating func pass(_ duration: Duration) -> [Output] {
        let end = now + duration
        var outputs: [Output] = []
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            outputs += play(.deadlineReached)
        }
        now = end
        return outputs
    }

    /// Lets time pass until the next deadline.
    @discardableResult
    mutating func passToDeadline() -> [Output] {
        guard let deadline = machine.nextDeadline else { return [] }
        return pass(deadline - now)
    }
}

extension SocketID: ExpressibleByStringLiteral {
    /// Creates an id that the test knows to be one.
    public init(stringLiteral text: String) {
        guard let id = SocketID(text) else { preconditionFailure("\(text) isn't a socket id") }
        self = id
    }
}

extension PusherAuth {
    /// An authorization as good as any other: the machine doesn't look at signatures.
    static let signed = PusherAuth(auth: "k:s")
}

extension ClientMessage {
    static func subscription(to channel: Name, auth: String? = nil) -> ClientMessage {
        .subscribe(channel: channel.text, auth: auth, channelData: nil)
    }
}

extension Output {
    static func send(_ message: ClientMessage) -> Output { .command(.send(message)) }

    static func open(_ attempt: Int, secure: Bool = true) -> Output {
        .command(.openSocket(ConnectionAttempt(attempt), secure: secure))
    }

    static func close(_ attempt: Int, code: UInt16 = 1000, reason: String = "") -> Output {
        .command(.closeSocket(ConnectionAttempt(attempt), code: code, reason: reason))
    }
}

extension [Output] {
    var withoutLogs: [Output] {
        filter { if case .log = $0 { false } else { true } }
    }

    var sent: [ClientMessage] {
        compactMap { if case .command(.send(let message)) = $0 { message } else { nil } }
    }

    var deliveries: [Delivery] {
        compactMap { if case .deliver(let delivery) = $0 { delivery } else { nil } }
    }

    var errors: [PusherError] {
        deliveries.compactMap {
            switch $0 {
            case .serverError(let error), .report(let error): error
            default: nil
            }
        }
    }

    var events: [String] {
        deliveries.compactMap(\.envelope?.event.text)
    }

    var stateChanges: [ConnectionState] {
        deliveries.compactMap { if case .stateChanged(_, let new, _) = $0 { new } else { nil } }
    }

    var reasons: [PusherError?] {
        deliveries.compactMap { if case .stateChanged(_, _, let reason) = $0 { .some(reason) } else { nil } }
    }

    var opened: [ConnectionAttempt] {
        compactMap { if case .command(.openSocket(let attempt, _)) = $0 { attempt } else { nil } }
    }

    var authorizations: [SubscriptionAttempt] {
        compactMap { if case .command(.authorize(let attempt, _)) = $0 { attempt } else { nil } }
    }

    /// The attempt to sign in for which an authorization is requested.
    var userAttempt: UserMachine.Attempt? {
        compactMap { if case .command(.authorizeUser(let attempt, _)) = $0 { attempt } else { nil } }.first
    }

    var signInFailures: [PusherError] {
        deliveries.compactMap { if case .signInFailed(let error) = $0 { error } else { nil } }
    }

    /// The errors of failed subscriptions.
    var failures: [PusherError] {
        deliveries.compactMap { if case .subscriptionFailed(_, let failure) = $0 { failure.error } else { nil } }
    }

    /// The times since when events may be missing.
    var gaps: [Instant] {
        deliveries.compactMap { if case .gap(_, let since) = $0 { since } else { nil } }
    }
}
