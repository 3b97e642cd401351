import Testing

@testable import PusherChannels

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
    @Test func theyAreSubscribedAfterTheSignIn() throws {
        var waiting = try Waiting()
        #expect(waiting.authorizeChannel().sent.isEmpty)
        #expect(waiting.transcript.play(.subscribe(channel: Self.lobby, auth: nil)).isEmpty, "it is on its way")
        #expect(waiting.authorizeUser().sent == [.signIn(auth: "k:s", userData: #"{"id":"ann"}"#)])
        #expect(waiting.transcript.receive(success).sent.last == subscribe)
        #expect(waiting.transcript.succeed(Self.lobby).deliveries.contains(.subscribed(channel: Self.lobby)))
    }

    // Proves P7.8.
    @Test func whatSaysItselfWhoJoinsDoesNotWait() throws {
        var waiting = try Waiting()
        let data = #"{"user_id":"bob"}"#
        let sent = waiting.authorizeChannel(PusherAuth(auth: "k:s", channelData: data)).sent
        #expect(sent == [.subscribe(channel: Self.lobby.text, auth: "k:s", channelData: data)])
    }

    @Test func norDoPrivateChannelsAndThoseOfWhoDoesNotSignIn() {
        var transcript = Transcript.connected()
        #expect(transcript.play(.subscribe(channel: Self.lobby, auth: PusherAuth(auth: "k:s"))).sent == [subscribe])
        transcript.play(.signIn)
        let outputs = transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:s")))
        #expect(outputs.sent == [.subscribe(channel: "private-room", auth: "k:s", channelData: nil)])
    }

    /// The server itself reports that it knows no user.
    // Proves P7.8.
    @Test func theServerDecidesAboutThoseOfAUserWhoIsRefused() throws {
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
    @Test func aSignInThatIsTriedAgainIsWaitedForAsLongAsOneMayTake() throws {
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
    @Test func theirTimeDoesNotRunWhileNothingIsRead() throws {
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
    @Test func theyAreNotMeantByAnErrorThatTheSignInWasNotMeantBy() throws {
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

    @Test func whoGivesUpTheChannelOrLosesTheConnectionSendsNothing() throws {
        var waiting = try Waiting()
        waiting.authorizeChannel()
        var lost = waiting
        waiting.transcript.play(.unsubscribe(channel: Self.lobby))
        waiting.authorizeUser()
        #expect(!waiting.transcript.receive(success).sent.contains(subscribe))

        lost.transcript.close(4200)
        let again = lost.transcript.establish()
        #expect(again.authorizations.map(\.channel) == [Self.lobby], "the signature was for the connection")
    }

    // Proves P6.7.
    @Test func aSuccessCountsThatComesMeanwhile() throws {
        var waiting = try Waiting()
        waiting.authorizeChannel(PusherAuth(auth: "k:s", channelData: "{}"))
        waiting.transcript.receive(
            #"{"event":"pusher:subscription_error","channel":"presence-lobby","data":{"status":503,"error":"later"}}"#)
        let again = try #require(waiting.transcript.passToDeadline().authorizations.first)
        waiting.transcript.play(.authorized(again, .success(PusherAuth(auth: "k:s"))))
        #expect(waiting.transcript.succeed(Self.lobby).deliveries.contains(.subscribed(channel: Self.lobby)))
    }
}
