/// An observer of a machine that checks everything the machine does against what it must never do.
struct Watch {
    enum Socket {
        case opening, open
        /// Asked to close, but not yet reported as closed.
        case closing, closingUnopened
        case closed

        /// Indicates whether messages may come.
        var isUp: Bool { self == .open || self == .closing }
    }

    /// The authorization that a user supplies.
    static let supplied = "supplied"

    /// The latest attempt to connect.
    private(set) var attempt = ConnectionAttempt(0)
    private(set) var sockets: [ConnectionAttempt: Socket] = [:]
    private(set) var asked: [SubscriptionAttempt] = []
    private(set) var underWay: Set<SubscriptionAttempt> = []
    private(set) var askedUsers: [UserMachine.Attempt] = []
    private(set) var usersUnderWay: Set<UserMachine.Attempt> = []
    /// Encrypted events that are to be decrypted.
    private(set) var encryptedEvents: [ConnectionMachine.EncryptedEvent] = []
    /// Messages that were sent on the latest socket.
    private var sent: ArraySlice<ClientMessage> = []
    private var settled: Set<SubscriptionAttempt> = []
    private var state = ConnectionState.disconnected
    private var isReading = true
    /// Channels that were requested from the server on this socket.
    private var askedFor: Set<Name> = []
    private var eventTimes: [Instant] = []
    private var lastEvents: [Name: Int] = [:]

    mutating func takeMessage() -> ClientMessage? { sent.popFirst() }
    mutating func takeEncrypted() -> ConnectionMachine.EncryptedEvent? {
        encryptedEvents.isEmpty ? nil : encryptedEvents.removeFirst()
    }

    mutating func see(
        _ input: Input, _ outputs: [Output], before: ConnectionMachine, after: ConnectionMachine, at now: Instant
    ) {
        see(input)
        for output in outputs { see(output, before, after, at: now) }
        check(after)
    }

    // MARK: Inputs

    private mutating func see(_ input: Input) {
        switch input {
        case .socketOpened(let attempt): sockets[attempt] = .open
        case .socketClosed(_, let attempt): sockets[attempt] = .closed
        case .authorized(let attempt, _):
            underWay.remove(attempt)
            settled.insert(attempt)
        case .userAuthorized(let attempt, _): usersUnderWay.remove(attempt)
        default: break
        }
    }

    // MARK: Effects

    private mutating func see(_ output: Output, _ before: ConnectionMachine, _ after: ConnectionMachine, at now: Instant) {
        switch output {
        case .command(.openSocket(let attempt, let secure)): open(attempt, secure, after.configuration)
        case .command(.closeSocket(let attempt, _, _)): close(attempt)
        case .setReading(let reading):
            require(sockets[attempt] == .open || reading, "reading is nothing to a socket that isn't open")
            isReading = reading
        case .command(.send(let message)): send(message, after, at: now)
        case .command(.authorize(let attempt, let socketID)): authorize(attempt, socketID, after)
        case .command(.cancelAuthorization(let attempt, _)):
            require(settled.insert(attempt).inserted, "\(attempt) is cancelled when it was answered or cancelled before")
            underWay.remove(attempt)
        case .command(.authorizeUser(let attempt, let socketID)):
            require(attempt.connection == self.attempt && socketID == after.socketID, "a user for another connection")
            require(usersUnderWay.isEmpty && !askedUsers.contains(attempt), "a user is asked for once at a time")
            usersUnderWay.insert(attempt)
            askedUsers.append(attempt)
        case .command(.cancelUserAuthorization(let attempt, _)):
            require(usersUnderWay.remove(attempt) != nil, "a user is cancelled whom nobody asks for")
        case .command(.decrypt(let event, _)):
            require(!encryptedEvents.contains(event), "an event is opened once")
            encryptedEvents.append(event)
        case .deliver(let delivery): hear(delivery, before, after)
        case .command(.log), .log, .pauseLimitReached: break
        }
    }

    private mutating func open(_ attempt: ConnectionAttempt, _ secure: Bool, _ configuration: ConnectionMachine.Configuration) {
        require(attempt == self.attempt.next, "\(attempt) follows \(self.attempt)")
        require(sockets[self.attempt].map { $0 != .opening && $0 != .open } ?? true, "one socket at a time")
        require(secure || !configuration.secure, "TLS stays")
        self.attempt = attempt
        sockets[attempt] = .opening
        (isReading, askedFor, eventTimes, sent) = (true, [], [], [])
    }

    private mutating func close(_ attempt: ConnectionAttempt) {
        require(attempt == self.attempt, "an earlier socket is closed")
        let socket = sockets[attempt]
        require(socket == .opening || socket == .open, "a socket is closed that is \(String(describing: socket))")
        sockets[attempt] = socket == .open ? .closing : .closingUnopened
    }

    private mutating func send(_ message: ClientMessage, _ machine: ConnectionMachine, at now: Instant) {
        require(sockets[attempt] == .open, "\(message) is sent on a socket that isn't open")
        sent.append(message)
        switch message {
        case .ping, .pong: return
        case .subscribe(let channel, let auth, _, _):
            require((auth != nil) == ChannelName(channel).needsAuthorization, "\(channel) is asked for with \(auth ?? "nothing")")
            require(isCurrent(auth), "\(channel) is asked for with \(auth ?? "nothing") of another connection")
            askedFor.insert(Name(channel))
        case .unsubscribe(let channel):
            require(askedFor.remove(Name(channel)) != nil, "\(channel) is left, which was not asked for")
        case .signIn(let auth, _): require(isCurrent(auth), "the user signs in with \(auth) of another connection")
        case .clientEvent(_, let channel, let data): sendEvent(on: Name(channel), data, machine, at: now)
        case .resume, .history: require(machine.configuration.protocol == .sockudo, "\(message) is sent in protocol 7")
        }
        require(machine.socketID != nil, "\(message) is sent before the connection is established")
    }

    private func isCurrent(_ auth: String?) -> Bool {
        auth.map { $0 == Self.supplied || $0.hasPrefix("\(attempt.number):") } ?? true
    }

    /// Checks that events are sent in order, within the rate limit, and on a subscribed channel.
    private mutating func sendEvent(on channel: Name, _ data: String, _ machine: ConnectionMachine, at now: Instant) {
        require(machine.subscriptions[channel]?.isSubscribed == true, "an event is sent on \(channel), not subscribed to")
        let number = Int(data) ?? 0
        require(number > lastEvents[channel, default: 0], "\(number) is sent on \(channel) after \(lastEvents)")
        lastEvents[channel] = number
        eventTimes = eventTimes.filter { now - $0 < .seconds(1) } + [now]
        let limit = machine.configuration.limits.clientEventsPerSecond ?? .max
        require(eventTimes.count <= limit, "\(eventTimes.count) events are sent within a second")
    }

    private mutating func authorize(_ attempt: SubscriptionAttempt, _ socketID: SocketID, _ machine: ConnectionMachine) {
        require(attempt.connection == self.attempt && socketID == machine.socketID, "\(attempt) is for another connection")
        require(!asked.contains(attempt) && !settled.contains(attempt), "\(attempt) is asked for twice")
        asked.append(attempt)
        underWay.insert(attempt)
        let limit = machine.configuration.concurrentAuthorizations
        require(underWay.count <= limit, "\(underWay.count) authorizations are asked for at a time")
    }

    // MARK: Deliveries

    private mutating func hear(_ delivery: Delivery, _ before: ConnectionMachine, _ after: ConnectionMachine) {
        switch delivery {
        case .stateChanged(let from, let to, _):
            require(from == state && to != from, "\(from) became \(to), but it was \(state)")
            state = to
        case .subscribed(let channel, _):
            require(askedFor.contains(channel) && sockets[attempt] == .open, "\(channel) is subscribed, not asked for")
        case .event(let envelope):
            // The protocol's own events report failures, too; events of encrypted channels are delivered once they are decrypted.
            guard let channel = envelope.channel, !envelope.event.begins(with: "pusher:"), ChannelName(channel).kind != .encrypted
            else { return }
            require(before.subscriptions[channel]?.isSubscribed == true, "\(envelope.event) of \(channel), not subscribed to")
        case .memberAdded(let channel, let member):
            let roster = after.subscriptions[channel]?.presentMembers
            require(roster?[member.userID] != nil, "\(member.userID) came, but isn't in \(channel)")
        case .memberRemoved(let channel, let member):
            require(after.subscriptions[channel]?.isSubscribed == true, "\(member.userID) left \(channel), not subscribed to")
            let roster = after.subscriptions[channel]?.presentMembers
            require(roster?[member.userID] == nil, "\(member.userID) left, but is in \(channel)")
        default: break
        }
    }

    // MARK: State

    private func check(_ machine: ConnectionMachine) {
        require(machine.state == state, "it is \(machine.state), but said \(state)")
        require(machine.attempt == attempt, "it thinks of \(machine.attempt), not \(attempt)")
        switch machine.session.phase {
        case .idle, .shutDown: break
        case .opening, .establishing, .connected, .waiting, .closing:
            require(machine.nextDeadline != nil, "it may wait for ever: \(machine.session.phase)")
        }
        var shouldRead = true
        if case .connected = machine.session.phase, case .paused = machine.reading { shouldRead = false }
        require(isReading == shouldRead || sockets[attempt] != .open, "it reads: \(isReading)")
        checkAuthorizations(machine)
    }

    /// Checks that each authorization under way is waited for, and that each one waited for is under way or waits for its turn.
    private func checkAuthorizations(_ machine: ConnectionMachine) {
        for attempt in underWay {
            require(machine.subscriptions[attempt.channel]?.awaits(attempt) == true, "nobody waits for \(attempt)")
        }
        for subscription in machine.subscriptions.all {
            guard case .authorizing(let attempt) = subscription.state else { continue }
            require(underWay.contains(attempt) || machine.authorizations.isWaiting, "\(subscription.channel) waits for ever")
        }
        for attempt in usersUnderWay {
            guard case .authorizing(attempt, _) = machine.user.state else {
                return require(false, "nobody waits for the user")
            }
        }
    }
}
