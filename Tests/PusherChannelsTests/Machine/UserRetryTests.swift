import Testing

@testable import PusherChannels

@Suite struct UserRetryTests {
    /// Fails the requested authorization and returns the number of failures reported.
    @discardableResult
    private func fail(
        after outputs: [Output], isRetryable: Bool = true, retryAfter: Duration? = nil, because message: String = "no",
        _ transcript: inout Transcript
    ) throws -> Int {
        let failure = AuthorizationFailure(message: message, isRetryable: isRetryable, retryAfter: retryAfter)
        return transcript.play(.userAuthorized(try #require(outputs.userAttempt), .failure(failure))).signInFailures.count
    }

    // Proves P9.9.
    @Test func `A user's authorization that failed is retried, and each new reason is reported once`() throws {
        var transcript = Transcript.connected()
        let first = try fail(after: transcript.play(.signIn), &transcript)
        let outputs = transcript.pass(.seconds(1))
        #expect(outputs.userAttempt?.number == 2)
        let second = try fail(after: outputs, &transcript)
        let third = try fail(after: transcript.pass(.seconds(2)), because: "another reason", &transcript)
        #expect((first, second, third) == (1, 0, 1), "who listens hears of the first one, and when the reason changes")
        let fourth = try fail(after: transcript.play(.signIn), because: "another reason", &transcript)
        #expect(fourth == 1, "and who asks again hears what becomes of it")
        try transcript.authorizeUser(transcript.pass(.seconds(8)))
        #expect(transcript.receive(.signInSuccess).deliveries.contains(.signedIn(userID: "ann")))
        #expect(transcript.pass(.seconds(100)).userAttempt == nil)
    }

    // Proves P9.9.
    @Test func `Delays between requests for a user's authorization grow to at most a minute`() throws {
        var transcript = Transcript.connected()
        var outputs = transcript.play(.signIn)
        var delays: [Duration] = []
        for _ in 0..<40 {
            try fail(after: outputs, &transcript)
            transcript.receive(#"{"event":"pusher:ping"}"#)
            let began = transcript.now
            outputs = transcript.passToDeadline()
            delays.append(transcript.now - began)
        }
        #expect(delays[0] <= .seconds(1) && delays[1] <= .seconds(2))
        #expect(delays.allSatisfy { $0 <= .seconds(60) })
        #expect(delays.contains { $0 > .seconds(30) })
    }

    // Proves P9.9.
    @Test func `A user's authorization that times out is requested again, a refused or unanswered sign-in is not`() throws {
        var (timedOut, refused) = (Transcript.connected(), Transcript.connected())
        timedOut.play(.signIn)
        timedOut.pass(.seconds(15))
        #expect(timedOut.pass(.seconds(1)).userAttempt?.number == 2)
        try fail(after: refused.play(.signIn), isRetryable: false, &refused)
        #expect(refused.pass(.seconds(100)).userAttempt == nil)
        var unanswered = Transcript.connected()
        try unanswered.authorizeUser(unanswered.play(.signIn))
        #expect(unanswered.pass(.seconds(110)).userAttempt == nil)
    }

    // Proves P9.9.
    @Test func `A user's authorization waits for a Retry-After, even on the next connection`() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), retryAfter: .seconds(20), &transcript)
        #expect(transcript.machine.user.state == .retrying(at: transcript.now + .seconds(20)))
        #expect(transcript.pass(.seconds(10)).userAttempt == nil)
        #expect(transcript.restart().userAttempt == nil, "by the next connection, too")
        #expect(transcript.pass(.seconds(9)).userAttempt == nil)
        #expect(transcript.pass(.seconds(1)).userAttempt != nil)
    }

    @Test func `A new request to sign in, also between two connections, doesn't wait for an earlier Retry-After`() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), retryAfter: .seconds(20), &transcript)
        var lost = transcript
        #expect(transcript.play(.signIn).userAttempt?.number == 2)
        lost.close(4200)
        lost.play(.signIn)
        #expect(lost.establish().userAttempt != nil)
    }

    @Test func `A late success during a new try's delay signs the user in and ends the retries`() throws {
        var transcript = Transcript.connected()
        try transcript.authorizeUser(transcript.play(.signIn))
        transcript.pass(.seconds(30))
        try fail(after: transcript.play(.signIn), &transcript)
        transcript.receive(.signInSuccess)
        #expect(transcript.machine.user.id == "ann")
        #expect(transcript.pass(.seconds(60)).userAttempt == nil)
    }

    @Test func `A failed sign-in isn't retried without a connection, but is on the next one`() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), &transcript)
        transcript.play(.disconnect)
        transcript.close(1000)
        #expect(transcript.machine.nextDeadline == nil)
        transcript.play(.connect)
        #expect(transcript.establish().userAttempt != nil, "the wish remains")
    }
}

/// Presence channels whose authorization names no user, because the sign-in does: before it, a server refuses them.
@Suite struct AwaitedUserTests {
    private static let lobby: Name = "presence-lobby"
    private let subscribe = ClientMessage.subscription(to: lobby, auth: "k:s")

    private struct Waiting {
        var transcript: Transcript
        let requests: [Output]

        /// Requests both authorizations on a connection that was just established, and gives the channel's.
        init(authorizingWith auth: PusherAuth? = .signed) throws {
            transcript = Transcript { $0.pauseLimit = .seconds(1_000) }
            transcript.play(.signIn)
            transcript.subscribe(AwaitedUserTests.lobby)
            transcript.play(.connect)
            requests = transcript.establish()
            if let auth { try authorizeChannel(auth) }
        }

        @discardableResult
        mutating func authorizeChannel(_ auth: PusherAuth = .signed) throws -> [Output] {
            transcript.authorize(try #require(requests.authorizations.first), auth)
        }

        @discardableResult
        mutating func authorizeUser() throws -> [Output] { try transcript.authorizeUser(requests) }

        mutating func failUser(_ failure: AuthorizationFailure) throws -> [Output] {
            transcript.play(.userAuthorized(try #require(requests.userAttempt), .failure(failure)))
        }

        /// Receives the confirmation of the channel; returns whether it counts.
        mutating func succeeds() -> Bool {
            transcript.succeed(AwaitedUserTests.lobby).deliveries.contains(.subscribed(channel: AwaitedUserTests.lobby))
        }
    }

    // Proves P7.8.
    @Test func `A presence channel without channel data is subscribed after the sign-in`() throws {
        var waiting = try Waiting(authorizingWith: nil)
        #expect(try waiting.authorizeChannel().sent.isEmpty)
        #expect(waiting.transcript.subscribe(Self.lobby).isEmpty, "it is on its way")
        #expect(try waiting.authorizeUser().sent == [.signIn(auth: "k:s", userData: #"{"id":"ann"}"#)])
        #expect(waiting.transcript.receive(.signInSuccess).sent.last == subscribe)
        let succeeds = waiting.succeeds()
        #expect(succeeds)
    }

    // Proves P7.8.
    @Test func `A presence channel whose authorization names its user doesn't wait for the sign-in`() throws {
        var waiting = try Waiting(authorizingWith: nil)
        let data = #"{"user_id":"bob"}"#
        let sent = try waiting.authorizeChannel(PusherAuth(auth: "k:s", channelData: data)).sent
        #expect(sent == [.subscribe(channel: Self.lobby.text, auth: "k:s", channelData: data)])
    }

    @Test func `Private channels, and presence channels without a sign-in requested, don't wait for one`() {
        var transcript = Transcript.connected()
        #expect(transcript.subscribe(Self.lobby, auth: .signed).sent == [subscribe])
        transcript.play(.signIn)
        let sent = transcript.subscribe("private-room", auth: .signed).sent
        #expect(sent == [.subscription(to: "private-room", auth: "k:s")])
    }

    /// The server itself reports that it knows no user.
    // Proves P7.8.
    @Test func `A presence channel that waits for the sign-in is subscribed anyway if the sign-in fails`() throws {
        var refused = try Waiting()
        #expect(try refused.failUser(AuthorizationFailure(message: "no", status: 403)).sent == [subscribe])

        var bySilence = try Waiting(authorizingWith: nil)
        try bySilence.authorizeUser()
        bySilence.transcript.pass(.seconds(10))
        try bySilence.authorizeChannel()
        #expect(bySilence.transcript.pass(.seconds(20)).sent == [subscribe])
    }

    // Proves P7.8.
    @Test func `A presence channel times out if the sign-in that it waits for is retried for too long`() throws {
        var waiting = try Waiting()
        #expect(try waiting.failUser(AuthorizationFailure(message: "no", status: 503, isRetryable: true)).sent.isEmpty)
        let failures = waiting.transcript.pass(.seconds(45)).failures
        #expect(failures.map(\.kind) == [.timedOut])
        #expect(failures.first?.message.contains("presence-lobby names no user") == true)
        let state = waiting.transcript.machine.subscriptions[Self.lobby]?.state
        guard case .retrying = state else { return #expect(Bool(false), "it is \(String(describing: state))") }
    }

    // Proves P4.7.
    @Test func `A presence channel's time to wait for the sign-in doesn't run while reading is paused`() throws {
        var waiting = try Waiting()
        try waiting.authorizeUser()
        waiting.transcript.play(.readersChanged(areOver: true))
        #expect(!waiting.transcript.pass(.seconds(100)).sent.contains(subscribe))
        waiting.transcript.play(.readersChanged(areOver: false))
        #expect(waiting.transcript.receive(.signInSuccess).sent.last == subscribe)
    }

    /// The error arrived before these subscriptions were sent.
    // Proves P9.4.
    @Test func `An error before the sign-in succeeded doesn't refuse a presence channel that waited for it`() throws {
        var waiting = try Waiting(authorizingWith: nil)
        try waiting.authorizeUser()
        waiting.transcript.receiveError(code: 4009)
        waiting.transcript.play(.signIn)
        try waiting.authorizeChannel()
        let outputs = waiting.transcript.receive(.signInSuccess)
        #expect(outputs.sent.last == subscribe)
        #expect(outputs.failures.isEmpty)
        let succeeds = waiting.succeeds()
        #expect(succeeds)
    }

    @Test func `Unsubscribing or losing the connection ends a presence channel's wait for the sign-in`() throws {
        var waiting = try Waiting()
        var lost = waiting
        waiting.transcript.unsubscribe(Self.lobby)
        try waiting.authorizeUser()
        #expect(!waiting.transcript.receive(.signInSuccess).sent.contains(subscribe))

        let again = lost.transcript.restart()
        #expect(again.authorizations.map(\.channel) == [Self.lobby], "the signature was for the connection")
    }

    // Proves P6.7.
    @Test func `A success of an earlier request counts while a presence channel waits for the sign-in`() throws {
        var waiting = try Waiting(authorizingWith: PusherAuth(auth: "k:s", channelData: "{}"))
        waiting.transcript.receiveRefusal(of: Self.lobby, status: 503)
        waiting.transcript.authorize(try #require(waiting.transcript.passToDeadline().authorizations.first))
        let succeeds = waiting.succeeds()
        #expect(succeeds)
    }
}
