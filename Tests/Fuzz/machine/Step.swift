extension World {
    private static let codes: [UInt16] = [1000, 1005, 1006, 1011, 4000, 4001, 4100, 4199, 4200, 4201, 4299, 4300, 0, 65535]
    private static let kinds: [TransportError.Kind] = [.connectionLost, .connectionRefused, .noAnswer, .cancelled]
    private static let pauses: [Duration] = [
        .zero, .milliseconds(1), .milliseconds(300), .seconds(1), .seconds(5), .seconds(20), .seconds(60), .seconds(1000),
    ]

    /// Takes the step that the next byte selects, with the bytes that follow as its details.
    mutating func step(_ input: inout FuzzInput) {
        switch input.choice() % 27 {
        case 0: tell(.connect)
        case 1: tell(.disconnect)
        case 2: tell(.networkChanged)
        case 3: reading(input.choice())
        case 4: subscribe(channel(&input))
        case 5: subscribe(channel(&input), rewind: machine.configuration.protocol == .sockudo ? .events(3) : nil)
        case 6:
            subscribe(
                channel(&input), auth: PusherAuth(auth: Watch.supplied, sharedSecret: input.choice() & 1 == 0 ? "key" : nil))
        case 7: unsubscribe(channel(&input))
        case 8: unsubscribeAll()
        case 9, 10: trigger(on: channel(&input))
        case 11: signIn()
        case 12: tell(.reconnectPolicy(ReconnectPolicy(maximumRetries: input.choice() & 3)))
        case 13: open(socket(&input))
        case 14: close(socket(&input), by: input.choice())
        case 15: controlFrame(socket(&input))
        case 16: establish(watch.attempt)
        case 17, 18: serverSays(input.choice(), of: channel(&input), on: socket(&input))
        case 19: receive(input.choices(), on: socket(&input))
        case 20: reply(input.choice(), input.choice())
        case 21: replyToLatest()
        case 22: replyToUser(input.choice(), input.choice())
        case 23: decrypt(input.choice(), input.choice())
        case 24: pass(Self.pauses[input.choice() & 7])
        case 25: tell(.deadlineReached)
        default: reachDeadline()
        }
    }

    private func channel(_ input: inout FuzzInput) -> Name {
        Self.channels[input.choice() % Self.channels.count]
    }

    /// Returns mostly the latest attempt, and sometimes an earlier one.
    private func socket(_ input: inout FuzzInput) -> ConnectionAttempt {
        let choice = input.choice()
        return ConnectionAttempt(choice & 7 == 7 ? choice >> 3 : watch.attempt.number)
    }

    // MARK: Sockets

    mutating func open(_ attempt: ConnectionAttempt) {
        guard watch.sockets[attempt] == .opening else { return }
        tell(.socketOpened(attempt))
    }

    private mutating func controlFrame(_ attempt: ConnectionAttempt) {
        guard watch.sockets[attempt]?.isUp == true else { return }
        tell(.receivedControlFrame(attempt))
    }

    /// Reports how far reading is behind.
    private mutating func reading(_ choice: Int) {
        guard choice & 2 == 0 else { return tell(.receivedLate(by: Self.pauses[choice >> 2 & 7], watch.attempt)) }
        tell(.readersChanged(areOver: choice & 1 == 1))
    }

    private mutating func close(_ attempt: ConnectionAttempt, by choice: Int) {
        guard let socket = watch.sockets[attempt], socket != .closed else { return }
        let closure: WebSocketClosure =
            choice & 1 == 0
            ? .closed(code: Self.codes[choice / 2 % Self.codes.count], reason: "")
            : .failed(TransportError(Self.kinds[choice / 2 % Self.kinds.count], "made up"))
        tell(.socketClosed(closure, attempt))
    }

    // MARK: Replies

    /// Sends any kind of reply to any authorization request so far.
    private mutating func reply(_ choice: Int, _ sort: Int) {
        guard !watch.asked.isEmpty else { return }
        let attempt = watch.asked[choice % watch.asked.count]
        var auth = Self.auth(for: attempt)
        if sort & 1 == 0 { auth = PusherAuth(auth: auth.auth, channelData: auth.channelData) }
        let failure = AuthorizationFailure(message: "made up", status: sort & 4 == 0 ? 403 : nil, isRetryable: sort & 8 == 0)
        tell(.authorized(attempt, sort & 2 == 0 ? .success(auth) : .failure(failure)))
    }

    private mutating func replyToLatest() {
        guard let attempt = watch.underWay.max(by: { $0.generation < $1.generation }) else { return }
        tell(.authorized(attempt, .success(Self.auth(for: attempt))))
    }

    private mutating func replyToUser(_ choice: Int, _ sort: Int) {
        guard !watch.askedUsers.isEmpty else { return }
        let attempt = watch.askedUsers[choice % watch.askedUsers.count]
        let failure = AuthorizationFailure(message: "made up")
        tell(.userAuthorized(attempt, sort & 1 == 0 ? .success(Self.auth(for: attempt)) : .failure(failure)))
    }

    private mutating func decrypt(_ choice: Int, _ sort: Int) {
        guard !watch.encryptedEvents.isEmpty else { return }
        let results: [Result<String, ConnectionMachine.DecryptionFailure>] = [
            .success("open"), .failure(.wrongKey), .failure(.malformed("made up")),
        ]
        tell(.opened(watch.encryptedEvents[choice % watch.encryptedEvents.count], results[sort % results.count]))
    }
}
