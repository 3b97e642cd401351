/// Handling of the server's messages.
extension ConnectionMachine {
    mutating func received(
        _ message: ServerMessage, attempt: ConnectionAttempt, at now: Instant, into effects: inout [Effect]
    ) {
        guard attempt == self.attempt else { return }
        switch phase {
        case .establishing: silentUpgrades = 0
        case .connected: noteActivity(at: now)
        case .idle, .shutDown, .opening, .waiting, .closing: return
        }
        switch message {
        case .event(let envelope):
            forgetServerError()
            event(envelope, into: &effects)
        case .control(let control, let envelope):
            if case .error = control {} else { forgetServerError() }
            self.control(control, envelope, at: now, into: &effects)
        }
    }

    mutating func receivedMalformed(
        _ frame: MalformedMessage, attempt: ConnectionAttempt, at now: Instant, into effects: inout [Effect]
    ) {
        guard attempt == self.attempt else { return }
        let error = PusherError(.malformedMessage, message: "\(frame)")
        switch phase {
        case .establishing where frame.endsAttempt:
            silentUpgrades = 0
            effects.append(.closeSocket(attempt, code: 1002, reason: ""))
            effects.append(.deliver(.error(error)))
            connectionEnded(.backOff(atLeast: .zero), because: error, at: now, into: &effects)
        case .establishing, .connected:
            silentUpgrades = 0
            noteActivity(at: now)
            effects.append(.deliver(.error(error)))
        case .idle, .shutDown, .opening, .waiting, .closing: return
        }
    }

    /// Forgets the server's last error. It explains a close that follows at once, not one that comes hours later.
    private mutating func forgetServerError() {
        if lastServerError != nil { lastServerError = nil }
    }

    private mutating func event(_ envelope: Envelope, into effects: inout [Effect]) {
        guard let channel = envelope.channel else {
            if let event = ControlReader.plainWatchlist(envelope) { watchlist([event], into: &effects) }
            effects.append(.deliver(.event(envelope)))
            return
        }
        switch reader(ofEventsOn: channel) {
        case .nobody:
            effects.append(.log(.eventDropped(envelope.event, channel: channel)))
        case .user:
            effects.append(.deliver(.userEvent(envelope)))
        case .decryption where !envelope.event.begins(with: "pusher:"):
            encryptedEvent(envelope, of: channel, into: &effects)
        case .application, .decryption:
            effects.append(.deliver(.event(envelope)))
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
        _ control: ServerControl, _ envelope: Envelope, at now: Instant, into effects: inout [Effect]
    ) {
        switch control {
        case .connectionEstablished(let socketID, let timeout):
            established(socketID: socketID, activityTimeout: timeout, envelope: envelope, at: now, into: &effects)
        case .error(let code, let message):
            serverError(serverError(code, message), envelope, at: now, into: &effects)
        case .ping:
            effects.append(.send(.pong))
        case .pong:
            break  // A sign of life, like any other frame.
        case .subscriptionSucceeded(let channel, let presence):
            let heard = heardBefore ?? now
            subscriptions[channel]?.succeeded(presence, envelope: envelope, heardUpTo: heard, into: &effects)
            attributeRefusals(at: now, into: &effects)
            askForAwaitedKey(of: channel, at: now, into: &effects)
            sendUnsentEvents(of: channel, at: now, into: &effects)
        case .subscriptionError(let channel, _, let message, let status):
            let error = PusherError(.subscriptionRefused, code: status, message: message)
            subscriptionRefused(channel, error, at: now, into: &effects)
        case .signedIn(let id):
            signedIn(id, envelope: envelope, at: now, into: &effects)
        case .watchlist(let events):
            watchlist(events, into: &effects)
        case .cacheMiss:
            event(envelope, into: &effects)
        case .subscriptionCount(let channel, let count):
            subscriptions[channel]?.countChanged(count, envelope: envelope, into: &effects)
        case .memberAdded(let channel, let member):
            subscriptions[channel]?.memberAdded(member, into: &effects)
        case .memberRemoved(let channel, let userID):
            subscriptions[channel]?.memberRemoved(userID, into: &effects)
        case .unknown:
            unknown(envelope, into: &effects)
        }
    }

    /// Returns the error of a `pusher:error`, with advice if its code refuses a connection.
    private func serverError(_ code: Int?, _ message: String) -> PusherError {
        if case .connected = phase { return PusherError(.server, code: code, message: message) }
        return refusal(message, code: code)
    }

    /// Reports an error that the server sent. It never ends a connection: some servers send codes of the closing ranges for
    /// trifles. Only a close does, and then the error may explain it.
    private mutating func serverError(
        _ error: PusherError, _ envelope: Envelope, at now: Instant, into effects: inout [Effect]
    ) {
        lastServerError = error
        effects.append(.deliver(.event(envelope)))
        effects.append(.deliver(.error(error)))
        if attributeToNamedChannel(error, envelope, at: now, into: &effects) { return }
        if attributeToSignIn(error, envelope, at: now, into: &effects) { return }
        if envelope.channel == nil { noteUnnamedRefusal(error, at: now, into: &effects) }
    }

    private mutating func unknown(_ envelope: Envelope, into effects: inout [Effect]) {
        effects.append(.log(.unknownEvent(envelope.event)))
        if envelope.event.begins(with: "pusher:") { event(envelope, into: &effects) }
    }
}
