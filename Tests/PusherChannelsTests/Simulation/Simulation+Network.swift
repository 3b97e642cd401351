import TestSupport

@testable import PusherChannels

/// The network's view of one connection between client and server. Messages in one direction arrive in order or not at all.
struct Link {
    struct ID: Hashable {
        let number: Int
    }

    let attempt: ConnectionAttempt
    var isOpen = false
    var isCut = false
    var isClosedByClient = false
    var latestAtClient: Instant = .origin
    var latestAtServer: Instant = .origin
}

extension Simulation {
    /// The longest time a message may take, and so the largest error of an announced gap's beginning.
    static let longestDelay: Duration = .seconds(45)

    private mutating func latency() -> Duration {
        if isCalm { return .milliseconds(20) }
        if chance(1) { return Self.longestDelay }
        return duration(chance(10) ? 1_000...20_000 : 1...300)
    }

    // MARK: Opening

    mutating func connect(_ attempt: ConnectionAttempt) {
        let id = Link.ID(number: attempt.number)
        links[id] = Link(attempt: attempt)
        linkInUse = id
        if isCalm || chance(70) {
            schedule(.linkOpens(id), at: now + latency())
        } else if chance(50) {
            let failure = TransportError(.connectionLost, "the simulated server can't be reached")
            schedule(.linkEndsAtClient(.failed(failure), id), at: now + latency())
        }
    }

    mutating func openLink(_ id: Link.ID) {
        guard let link = links[id], !link.isClosedByClient else { return }
        links[id]?.isOpen = true
        let version = oracle.replays == nil ? "protocol=7" : "protocol=2&echo_messages=false"
        tellClient(.socketOpened(link.attempt))
        tellServer(.opened(.init(id.number), path: "/app/\(Self.app.key)?\(version)&version=1.0"))
    }

    // MARK: Messages

    mutating func sendToServer(_ text: String) {
        guard let id = linkInUse, let link = links[id], link.isOpen else {
            return oracle.fail("sent while no connection was open: \(text)")
        }
        let arrival = max(link.latestAtServer, now + latency())
        links[id]?.latestAtServer = arrival
        schedule(.arrivesAtServer(text, id), at: arrival)
    }

    mutating func sendToClient(_ text: String, _ id: Link.ID) {
        guard let link = links[id] else { return }  // A peer's link, or one that is gone.
        let arrival = max(link.latestAtClient, now + latency())
        links[id]?.latestAtClient = arrival
        schedule(.arrivesAtClient(text, id), at: arrival)
        if !isCalm, text.contains("\"event\":\"pusher"), chance(5) { schedule(.arrivesAtClient(text, id), at: arrival) }
    }

    /// The server's own ping frame, which the client's socket answers.
    mutating func sendPing(to id: Link.ID) {
        guard let link = links[id] else { return }
        schedule(.pingArrives(id), at: max(link.latestAtClient, now + latency()))
    }

    mutating func arrivePing(_ id: Link.ID) {
        guard let link = links[id], !link.isCut else { return }
        tellClient(.receivedControlFrame(link.attempt))
        tellServer(.pong(.init(id.number)))
    }

    mutating func arriveAtClient(_ text: String, _ id: Link.ID) {
        guard let link = links[id], !link.isCut else { return }
        tellClient(Transcript.input(text, link.attempt, client.configuration.protocol))
    }

    mutating func arriveAtServer(_ text: String, _ id: Link.ID) {
        guard links[id]?.isCut == false else { return }
        tellServer(.received(text, from: .init(id.number)))
    }

    // MARK: Ending

    /// Closes the link from the client's side; its close frame follows the messages it has sent.
    mutating func closeLink(of attempt: ConnectionAttempt) {
        let id = Link.ID(number: attempt.number)
        guard let link = links[id] else { return }
        links[id]?.isClosedByClient = true
        if linkInUse == id { linkInUse = nil }
        schedule(.linkEndsAtServer(id), at: max(link.latestAtServer, now + latency()))
        guard !link.isCut else { return }
        schedule(.linkEndsAtClient(.closed(code: 1000, reason: ""), id), at: now + latency() * 2)
    }

    mutating func closeFromServer(_ closure: WebSocketClosure, _ id: Link.ID) {
        guard let link = links[id] else { return }
        schedule(.linkEndsAtClient(closure, id), at: max(link.latestAtClient, now + latency()))
    }

    mutating func endLinkAtClient(_ closure: WebSocketClosure, _ id: Link.ID) {
        guard let link = links.removeValue(forKey: id) else { return }
        if linkInUse == id { linkInUse = nil }
        tellServer(.closed(.init(id.number)))
        tellClient(.socketClosed(closure, link.attempt))
    }

    /// Cuts the link: nothing gets through anymore. The server notices later, the client maybe never.
    mutating func cut(_ id: Link.ID) {
        links[id]?.isCut = true
        schedule(.linkEndsAtServer(id), at: now + duration(0...60_000))
        guard chance(60) else { return }
        let failure = TransportError(.connectionLost, "cut by the simulation")
        schedule(.linkEndsAtClient(.failed(failure), id), at: now + duration(0...5_000))
    }

    // MARK: Authorization

    mutating func authorize(_ attempt: SubscriptionAttempt, socketID: SocketID) {
        schedule(.clientHears(.authorized(attempt, authorization(of: attempt.channel, socketID))), at: now + responseTime())
    }

    mutating func authorizeUser(_ attempt: UserMachine.Attempt, socketID: SocketID) {
        let userData = #"{"id":"me"}"#
        let result = AuthCall.signed { () throws(PusherError) in
            let auth = try Signature.user(userData, socketID: socketID.text, key: Self.app.key, secret: Self.app.secret)
            return PusherUserAuth(auth: auth, userData: userData)
        }
        schedule(.clientHears(.userAuthorized(attempt, result)), at: now + responseTime())
    }

    private mutating func responseTime() -> Duration {
        isCalm ? .milliseconds(20) : duration(chance(10) ? 5_000...30_000 : 1...1_000)
    }

    private mutating func authorization(of channel: Name, _ socketID: SocketID) -> Result<PusherAuth, AuthorizationFailure> {
        if !isCalm, chance(15) {
            return .failure(AuthorizationFailure(message: "simulated", status: pick([500, 403, nil]), isRetryable: chance(80)))
        }
        let data = channel.begins(with: "presence-") ? #"{"user_id":"me","user_info":{}}"# : nil
        let secret = Self.app.encryptionMasterKey.flatMap { SharedSecret.derived(for: channel.text, masterKey: $0) }
        let isEncrypted = channel.begins(with: "private-encrypted-")
        return AuthCall.signed { () throws(PusherError) in
            let auth = try Signature.channel(
                channel.text, channelData: data, socketID: socketID.text, key: Self.app.key, secret: Self.app.secret)
            return PusherAuth(auth: auth, channelData: data, sharedSecret: isEncrypted ? secret?.base64 : nil)
        }
    }
}
