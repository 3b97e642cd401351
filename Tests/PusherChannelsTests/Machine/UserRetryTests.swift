import Testing

@testable import PusherChannels

@Suite struct UserRetryTests {
    private let success = #"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#
    private let auth = PusherUserAuth(auth: "k:s", userData: #"{"id":"ann"}"#)

    /// Returns the attempt whose authorization is requested.
    private func asked(_ outputs: [Output]) -> UserMachine.Attempt? {
        outputs.compactMap { if case .command(.authorizeUser(let attempt, _)) = $0 { attempt } else { nil } }.first
    }

    /// Fails the requested authorization and returns the number of failures reported.
    @discardableResult
    private func fail(
        after outputs: [Output], isRetryable: Bool = true, retryAfter: Duration? = nil, because message: String = "no",
        _ transcript: inout Transcript
    ) throws -> Int {
        let failure = AuthorizationFailure(message: message, isRetryable: isRetryable, retryAfter: retryAfter)
        let outputs = transcript.play(.userAuthorized(try #require(asked(outputs)), .failure(failure)))
        return outputs.deliveries.filter { if case .signInFailed = $0 { true } else { false } }.count
    }

    // Proves P9.9.
    @Test func `A user's authorization that failed is retried, and each new reason is reported once`() throws {
        var transcript = Transcript.connected()
        let first = try fail(after: transcript.play(.signIn), &transcript)
        let outputs = transcript.pass(.seconds(1))
        #expect(asked(outputs)?.number == 2)
        let second = try fail(after: outputs, &transcript)
        let third = try fail(after: transcript.pass(.seconds(2)), because: "another reason", &transcript)
        #expect((first, second, third) == (1, 0, 1), "who listens hears of the first one, and when the reason changes")
        let fourth = try fail(after: transcript.play(.signIn), because: "another reason", &transcript)
        #expect(fourth == 1, "and who asks again hears what becomes of it")
        let last = try #require(asked(transcript.pass(.seconds(8))))
        transcript.play(.userAuthorized(last, .success(auth)))
        #expect(transcript.receive(success).deliveries.contains(.signedIn(userID: "ann")))
        #expect(asked(transcript.pass(.seconds(100))) == nil)
    }

    // Proves P9.9.
    @Test func `Delays between requests for a user's authorization grow to at most a minute`() throws {
        var transcript = Transcript.connected()
        var outputs = transcript.play(.signIn)
        var delays: [Duration] = []
        for _ in 0..<40 {
            try fail(after: outputs, &transcript)
            let began = transcript.now
            repeat {
                outputs = transcript.passToDeadline()
                if outputs.sent.contains(.ping) { transcript.receive(#"{"event":"pusher:pong"}"#) }
            } while asked(outputs) == nil
            delays.append(transcript.now - began)
        }
        #expect(delays[0] <= .seconds(1))
        #expect(delays[1] <= .seconds(2))
        #expect(delays.allSatisfy { $0 <= .seconds(60) })
        #expect(delays.contains { $0 > .seconds(30) })
    }

    // Proves P9.9.
    @Test func `A user's authorization that times out is requested again`() {
        var transcript = Transcript.connected()
        transcript.play(.signIn)
        transcript.pass(.seconds(15))
        #expect(asked(transcript.pass(.seconds(1)))?.number == 2)
    }

    // Proves P9.9.
    @Test func `A sign-in isn't tried again if its authorization is refused or the server doesn't answer it`() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), isRetryable: false, &transcript)
        #expect(asked(transcript.pass(.seconds(100))) == nil)
        transcript = .connected()
        transcript.play(.userAuthorized(try #require(asked(transcript.play(.signIn))), .success(auth)))
        #expect(asked(transcript.pass(.seconds(110))) == nil)
    }

    // Proves P9.9.
    @Test func `A user's authorization waits for a Retry-After, even on the next connection`() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), retryAfter: .seconds(20), &transcript)
        #expect(transcript.machine.user.state == .retrying(at: transcript.now + .seconds(20)))
        #expect(asked(transcript.pass(.seconds(10))) == nil)
        #expect(asked(transcript.restart()) == nil, "by the next connection, too")
        #expect(asked(transcript.pass(.seconds(9))) == nil)
        #expect(asked(transcript.pass(.seconds(1))) != nil)
    }

    @Test func `A new request to sign in, also between two connections, doesn't wait for an earlier Retry-After`() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), retryAfter: .seconds(20), &transcript)
        var lost = transcript
        #expect(asked(transcript.play(.signIn))?.number == 2)
        lost.close(4200)
        lost.play(.signIn)
        #expect(asked(lost.establish()) != nil)
    }

    @Test func `A late success during a new try's delay signs the user in and ends the retries`() throws {
        var transcript = Transcript.connected()
        transcript.play(.userAuthorized(try #require(asked(transcript.play(.signIn))), .success(auth)))
        transcript.pass(.seconds(30))
        try fail(after: transcript.play(.signIn), &transcript)
        transcript.receive(success)
        #expect(transcript.machine.user.id == "ann")
        #expect(asked(transcript.pass(.seconds(60))) == nil)
    }

    @Test func `A failed sign-in isn't retried without a connection, but is on the next one`() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), &transcript)
        transcript.play(.disconnect)
        transcript.close(1000)
        #expect(transcript.machine.nextDeadline == nil)
        transcript.play(.connect)
        #expect(asked(transcript.establish()) != nil, "the wish remains")
    }
}

/// Presence channels whose authorization names no user, because the sign-in does: before it, a server refuses them.
@Suite struct AwaitedUserTests {
    private static let lobby: Name = "presence-lobby"
    private let subscribe = ClientMessage.subscribe(channel: lobby.text, auth: "k:s", channelData: nil)
    private let success = #"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#

    private struct Waiting {
        var transcript: Transcript
        let user: UserMachine.Attempt
        let channel: SubscriptionAttempt

        /// Requests both authorizations on a connection that was just established.
        init() throws {
            transcript = Transcript { $0.pauseLimit = .seconds(1_000) }
            transcript.play(.signIn)
            transcript.play(.subscribe(channel: AwaitedUserTests.lobby, auth: nil))
            transcript.play(.connect)
            let outputs = transcript.establish()
            user = try #require(
                outputs.compactMap { if case .command(.authorizeUser(let attempt, _)) = $0 { attempt } else { nil } }.first)
            channel = try #require(outputs.authorizations.first)
        }

        @discardableResult
        mutating func authorizeChannel(_ auth: PusherAuth = PusherAuth(auth: "k:s")) -> [Output] {
            transcript.play(.authorized(channel, .success(auth)))
        }

        @discardableResult
        mutating func authorizeUser(_ failure: AuthorizationFailure? = nil) -> [Output] {
            let auth = PusherUserAuth(auth: "k:s", userData: #"{"id":"ann"}"#)
            return transcript.play(.userAuthorized(user, failure.map { .failure($0) } ?? .success(auth)))
        }

        var state: SubscriptionMachine.State? { transcript.machine.subscriptions[AwaitedUserTests.lobby]?.state }
    }

    // Proves P7.8.
    @Test func `A presence channel without channel data is subscribed after the sign-in`() throws {
        var waiting = try Waiting()
        #expect(waiting.authorizeChannel().sent.isEmpty)
        #expect(waiting.transcript.play(.subscribe(channel: Self.lobby, auth: nil)).isEmpty, "it is on its way")
        #expect(waiting.authorizeUser().sent == [.signIn(auth: "k:s", userData: #"{"id":"ann"}"#)])
        #expect(waiting.transcript.receive(success).sent.last == subscribe)
        #expect(waiting.transcript.succeed(Self.lobby).deliveries.contains(.subscribed(channel: Self.lobby)))
    }

    // Proves P7.8.
    @Test func `A presence channel whose authorization names its user doesn't wait for the sign-in`() throws {
        var waiting = try Waiting()
        let data = #"{"user_id":"bob"}"#
        let sent = waiting.authorizeChannel(PusherAuth(auth: "k:s", channelData: data)).sent
        #expect(sent == [.subscribe(channel: Self.lobby.text, auth: "k:s", channelData: data)])
    }

    @Test func `Private channels, and presence channels without a sign-in requested, don't wait for one`() {
        var transcript = Transcript.connected()
        #expect(transcript.play(.subscribe(channel: Self.lobby, auth: PusherAuth(auth: "k:s"))).sent == [subscribe])
        transcript.play(.signIn)
        let outputs = transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:s")))
        #expect(outputs.sent == [.subscribe(channel: "private-room", auth: "k:s", channelData: nil)])
    }

    /// The server itself reports that it knows no user.
    // Proves P7.8.
    @Test func `A presence channel that waits for the sign-in is subscribed anyway if the sign-in fails`() throws {
        var refused = try Waiting()
        refused.authorizeChannel()
        #expect(refused.authorizeUser(AuthorizationFailure(message: "no", status: 403)).sent == [subscribe])

        var bySilence = try Waiting()
        bySilence.authorizeUser()
        bySilence.transcript.pass(.seconds(10))
        bySilence.authorizeChannel()
        #expect(bySilence.transcript.pass(.seconds(20)).sent == [subscribe])
    }

    // Proves P7.8.
    @Test func `A presence channel times out if the sign-in that it waits for is retried for too long`() throws {
        var waiting = try Waiting()
        waiting.authorizeChannel()
        #expect(waiting.authorizeUser(AuthorizationFailure(message: "no", status: 503, isRetryable: true)).sent.isEmpty)
        let outputs = waiting.transcript.pass(.seconds(45))
        let failures = outputs.deliveries.compactMap {
            if case .subscriptionFailed(Self.lobby, let failure) = $0 { failure.error } else { nil }
        }
        #expect(failures.map(\.kind) == [.timedOut])
        #expect(failures.first?.message.contains("presence-lobby names no user") == true)
        guard case .retrying = waiting.state else { return #expect(Bool(false), "it is \(String(describing: waiting.state))") }
    }

    // Proves P4.7.
    @Test func `A presence channel's time to wait for the sign-in doesn't run while reading is paused`() throws {
        var waiting = try Waiting()
        waiting.authorizeChannel()
        waiting.authorizeUser()
        waiting.transcript.play(.readersChanged(areOver: true))
        #expect(waiting.transcript.pass(.seconds(100)).sent.contains(subscribe) == false)
        waiting.transcript.play(.readersChanged(areOver: false))
        #expect(waiting.transcript.receive(success).sent.last == subscribe)
    }

    /// The error arrived before these subscriptions were sent.
    // Proves P9.4.
    @Test func `An error before the sign-in succeeded doesn't refuse a presence channel that waited for it`() throws {
        var waiting = try Waiting()
        waiting.authorizeUser()
        waiting.transcript.receive(#"{"event":"pusher:error","data":{"code":4009,"message":"no"}}"#)
        waiting.transcript.play(.signIn)
        waiting.authorizeChannel()
        let outputs = waiting.transcript.receive(success)
        #expect(outputs.sent.last == subscribe)
        #expect(waiting.transcript.succeed(Self.lobby).deliveries.contains(.subscribed(channel: Self.lobby)))
        #expect(!outputs.deliveries.contains { if case .subscriptionFailed = $0 { true } else { false } })
    }

    @Test func `Unsubscribing or losing the connection ends a presence channel's wait for the sign-in`() throws {
        var waiting = try Waiting()
        waiting.authorizeChannel()
        var lost = waiting
        waiting.transcript.play(.unsubscribe(channel: Self.lobby))
        waiting.authorizeUser()
        #expect(!waiting.transcript.receive(success).sent.contains(subscribe))

        let again = lost.transcript.restart()
        #expect(again.authorizations.map(\.channel) == [Self.lobby], "the signature was for the connection")
    }

    // Proves P6.7.
    @Test func `A success of an earlier request counts while a presence channel waits for the sign-in`() throws {
        var waiting = try Waiting()
        waiting.authorizeChannel(PusherAuth(auth: "k:s", channelData: "{}"))
        waiting.transcript.receive(
            #"{"event":"pusher:subscription_error","channel":"presence-lobby","data":{"status":503,"error":"later"}}"#)
        let again = try #require(waiting.transcript.passToDeadline().authorizations.first)
        waiting.transcript.play(.authorized(again, .success(PusherAuth(auth: "k:s"))))
        #expect(waiting.transcript.succeed(Self.lobby).deliveries.contains(.subscribed(channel: Self.lobby)))
    }
}
