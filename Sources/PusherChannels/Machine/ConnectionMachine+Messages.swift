/// Handling of the server's messages.
extension ConnectionMachine {
    mutating func received(
        _ message: ServerMessage, attempt: ConnectionAttempt, at now: Instant
    ) {
        guard attempt == self.attempt else { return }
        // The first message of a read does this for the others.
        if !session.hasHeard(at: now) {
            switch session.phase {
            case .establishing: session.silentUpgrades = 0
            case .connected: noteActivity(at: now)
            case .idle, .shutDown, .opening, .waiting, .closing: return
            }
            if case .control(.error, _) = message {} else { forgetServerError() }
        }
        switch message {
        case .event(let envelope): event(envelope, at: now)
        case .control(let control, let envelope): self.control(control, envelope, at: now)
        }
    }

    mutating func receivedMalformed(
        _ frame: MalformedMessage, attempt: ConnectionAttempt, at now: Instant
    ) {
        guard attempt == self.attempt else { return }
        let error = PusherError(.malformedMessage, message: "\(frame)")
        switch session.phase {
        case .establishing where frame.endsAttempt:
            session.silentUpgrades = 0
            outputs.append(.command(.closeSocket(attempt, code: 1002, reason: "")))
            outputs.append(.deliver(.report(error)))
            connectionEnded(.backOff(atLeast: .zero), because: error, at: now)
        case .establishing, .connected:
            session.silentUpgrades = 0
            noteActivity(at: now)
            outputs.append(.log(.error(error)))
            outputs.append(.deliver(.report(error)))
        case .idle, .shutDown, .opening, .waiting, .closing: return
        }
    }

    /// Forgets the server's last error. It explains a close that follows at once, not one that comes hours later.
    private mutating func forgetServerError() {
        if session.lastServerError != nil { session.lastServerError = nil }
    }

    private mutating func event(_ envelope: Envelope, at now: Instant) {
        guard let channel = envelope.channel else {
            if let event = ControlReader.plainWatchlist(envelope) { watchlist([event]) }
            outputs.append(.deliver(.event(envelope)))
            return
        }
        switch reader(ofEventsOn: channel) {
        case .nobody:
            outputs.append(.log(.eventDropped(envelope.event, channel: channel)))
        case .user:
            outputs.append(.deliver(.userEvent(envelope)))
        case .application where configuration.protocol == .sockudo, .decryption where configuration.protocol == .sockudo:
            receive(envelope, of: channel, at: now)
        case .decryption where !envelope.event.begins(with: "pusher:"):
            encryptedEvent(envelope, of: channel)
        case .application, .decryption:
            outputs.append(.deliver(.event(envelope)))
        }
    }

    private enum Reader {
        case nobody
        case application
        case decryption
        case user
    }

    /// Returns the reader of a channel's events. An event that precedes the success belongs to a subscription that was given up.
    /// The user's channel needs no success: nobody gives it up, and some servers deliver events to users but refuse the channel
    /// or never confirm it.
    private mutating func reader(ofEventsOn channel: Name) -> Reader {
        let isUser = channel == user.channel
        return subscriptions.look(at: channel) { subscription in
            if isUser { return .user }
            return subscription.isSubscribed ? (subscription.isEncrypted ? .decryption : .application) : .nobody
        } ?? .nobody
    }

    private mutating func control(
        _ control: ServerControl, _ envelope: Envelope, at now: Instant
    ) {
        switch control {
        case .connectionEstablished(let socketID, let timeout):
            established(socketID: socketID, activityTimeout: timeout, envelope: envelope, at: now)
        case .error(let code, let message):
            serverError(serverError(code, message), envelope, at: now)
        case .ping:
            outputs.append(.command(.send(.pong)))
        case .pong:
            break  // A sign of life, like any other frame.
        case .subscriptionSucceeded(let channel, let presence):
            let heard = session.receivedBefore ?? now
            subscriptions.answeredUndone(channel)
            let news = subscriptions[channel]?.succeeded(presence, envelope: envelope, receivedUpTo: heard) ?? []
            if configuration.protocol == .sockudo { recover(channel, news, envelope, at: now) } else { outputs += news }
            attributeRefusals(at: now)
            askForAwaitedKey(of: channel, at: now)
            sendUnsentEvents(of: channel, at: now)
        case .subscriptionError(let channel, _, let message, let status):
            let error = PusherError(.subscriptionRefused, code: status, message: message)
            subscriptionRefused(channel, error, at: now)
        case .signedIn(let id):
            signedIn(id, envelope: envelope, at: now)
        case .watchlist(let events):
            watchlist(events)
        case .cacheMiss:
            event(envelope, at: now)
        case .subscriptionCount(let channel, let count):
            guard subscriptions[channel] != nil else { break }
            subscriptions[channel]?.countChanged(count)
            outputs.append(.deliver(.event(envelope.renamed("pusher:subscription_count"))))
            outputs.append(.deliver(.subscriptionCount(channel: channel, count)))
        case .memberAdded(let channel, let member):
            do throws(PusherError) {
                if let change = try subscriptions[channel]?.memberAdded(member) ?? nil { outputs.append(.deliver(change)) }
            } catch {
                outputs.append(.log(.error(error)))
                outputs.append(.deliver(.report(error)))
            }
        case .memberRemoved(let channel, let userID):
            let change = subscriptions[channel]?.memberRemoved(userID, signedIn: user.id)
            if let change { outputs.append(.deliver(change)) }
        case .resumed(let answer):
            resumed(answer, at: now)
        case .resumeFailed:
            break
        case .history(let channel, let page):
            pageCame(page, of: channel, at: now)
        case .rewound:
            event(envelope, at: now)
            if let channel = envelope.channel { rewound(channel, at: now) }
        case .unknown:
            unknown(envelope, at: now)
        }
    }

    /// Returns the error of a `pusher:error`, with advice if its code refuses a connection.
    private func serverError(_ code: Int?, _ message: String) -> PusherError {
        if case .connected = session.phase {
            return PusherError(.server, code: code, message: message + Self.demand(in: message))
        }
        return refusal(message, code: code)
    }

    /// Reports an error that the server sent. With a code that refuses the connection it ends an attempt: some servers send no
    /// close. An established connection goes on, because some servers send codes of the closing ranges for trifles. Only a close
    /// ends it, and then the error may explain it.
    private mutating func serverError(
        _ error: PusherError, _ envelope: Envelope, at now: Instant
    ) {
        session.lastServerError = error
        outputs.append(.deliver(.event(envelope)))
        outputs.append(.deliver(.serverError(error)))
        if case .establishing = session.phase, let code = error.code, CloseCode.refusals.contains(code) {
            outputs.append(.command(.closeSocket(attempt, code: 1000, reason: "")))
            return connectionEnded(CloseCode(UInt16(code)).reaction, because: error, at: now)
        }
        outputs.append(.log(.error(error)))
        if attributeToReplay(error, at: now) { return }
        if attributeToNamedChannel(error, envelope, at: now) { return }
        if attributeToSignIn(error, envelope, at: now) { return }
        if envelope.channel == nil { noteUnnamedRefusal(error, at: now) }
    }

    private mutating func unknown(_ envelope: Envelope, at now: Instant) {
        outputs.append(.log(.unknownEvent(envelope.event)))
        if envelope.event.begins(with: "pusher:") || envelope.event.begins(with: "sockudo:") { event(envelope, at: now) }
    }
}
