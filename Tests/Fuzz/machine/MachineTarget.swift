/// Plays a made-up history: the machine's configuration, and the actions of the user, the server, the network and the authorizer.
///
/// At the end, all of them behave as they should, and the client must reach the state that its user wants.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = FuzzInput(data, size)
    var world = World(ConnectionMachine.Configuration(choices: input.choice(), input.choice()))
    while !input.rest.isEmpty { world.step(&input) }
    world.settle()
    return 0
}

extension ConnectionMachine.Configuration {
    /// Creates a configuration with a bit for each setting that changes the course. Small limits are reached soon.
    fileprivate init(choices: Int, _ more: Int) {
        self.init()
        secure = choices & 1 == 0
        upgradesToTLS = choices & 2 == 0
        autoReconnect = choices & 4 == 0
        concurrentAuthorizations = choices & 8 == 0 ? 16 : 1
        unsentEventLimit = choices & 16 == 0 ? 100 : 2
        encryptedEventLimit = choices & 32 == 0 ? 100 : 1
        if choices & 64 != 0 { limits = .unchecked }
        if choices & 128 != 0 { limits.clientEventsPerSecond = 2 }
        if more & 1 != 0 { reconnectPolicy.maximumRetries = 2 }
        if more & 2 != 0 { reconnectPolicy.initialDelay = .zero }
        if more & 4 != 0 { subscriptionRetry = ExponentialDelay(initial: .zero, maximum: .zero) }
        if more & 8 != 0 { self.protocol = .sockudo }
        if more & 16 != 0 { positions = ["room": StreamPosition(stream: "s", serial: 3)] }
    }
}

extension World {
    /// Lets nothing go wrong any more, repeats the user's requests, and checks that everything wanted comes true.
    mutating func settle() {
        tell(.readersChanged(areOver: false))
        tell(.reconnectPolicy(ReconnectPolicy()))
        for _ in 0..<3 {
            tell(.connect)
            if wantsUser { tell(.signIn) }
            for channel in wanted.sorted() { subscribe(channel) }
            run(until: now + .seconds(60))
        }
        require(machine.state == .connected, "not connected, but \(machine.state)")
        let subscribed = Set(machine.subscriptions.all.filter(\.isSubscribed).map(\.channel))
        require(subscribed.isSuperset(of: wanted), "subscribed are \(subscribed), wanted \(wanted)")
        require(subscribed.isSubset(of: wanted.union(["#server-to-user-me"])), "subscribed are \(subscribed), wanted \(wanted)")
        require(machine.user.id == (wantsUser ? "me" : nil), "the user is \(machine.user.state)")
        require(watch.underWay.isEmpty && !machine.authorizations.isWaiting, "something is authorized still")
        require(!machine.subscriptions.all.contains(where: \.hasUnsentEvents), "an event was not sent")
        let stages = machine.subscriptions.all.compactMap { $0.encryptedEvents?.stage }
        require(stages.allSatisfy { $0 == .idle }, "an event was not opened: \(stages)")
        let recoveries = machine.subscriptions.all.compactMap(\.recovery)
        require(recoveries.allSatisfy { $0.isLive && $0.heldBytes == 0 }, "a replay did not end: \(recoveries)")
        require(machine.recovery.waiting.isEmpty && machine.recovery.heldBytes == 0, "a replay waits: \(machine.recovery)")
    }

    /// Replies to everything that the machine requests, and lets time pass when it requests nothing.
    private mutating func run(until end: Instant) {
        for _ in 0..<5_000 {
            if replyToNext() { continue }
            guard let deadline = machine.nextDeadline, deadline <= end else { return pass(max(end - now, .zero)) }
            reachDeadline()
        }
        require(false, "there is no end to it")
    }

    private mutating func replyToNext() -> Bool {
        if let attempt = watch.underWay.first {
            tell(.authorized(attempt, .success(Self.auth(for: attempt))))
        } else if let attempt = watch.usersUnderWay.first {
            tell(.userAuthorized(attempt, .success(Self.auth(for: attempt))))
        } else if let attempt = watch.sockets.first(where: { $0.value == .closing })?.key {
            tell(.socketClosed(.closed(code: 1000, reason: ""), attempt))
        } else if watch.sockets[watch.attempt] == .opening || machine.isEstablishing {
            establish(watch.attempt)
        } else if let event = watch.takeEncrypted() {
            tell(.opened(event, .success("open")))
        } else if let message = watch.takeMessage() {
            reply(message)
        } else {
            return false
        }
        return true
    }
}

extension ConnectionMachine {
    fileprivate var isEstablishing: Bool {
        if case .establishing = session.phase { true } else { false }
    }
}
