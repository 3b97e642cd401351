import TestSupport
import Testing

@testable import PusherChannels

@Suite struct SubscriptionTests {
    /// Found by the simulation: the success was for a subscription that had since been given up.
    @Test func aSuccessThatTheFailedSubscriptionDidNotAskForChangesNothing() throws {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:s")))
        transcript.play(.unsubscribe(channel: "private-room"))
        let asked = transcript.play(.subscribe(channel: "private-room", auth: nil)).authorizations
        transcript.play(.authorized(try #require(asked.first), .failure(AuthorizationFailure(message: "no", isRetryable: true))))
        #expect(transcript.succeed("private-room").deliveries.isEmpty)
        #expect(transcript.machine.subscriptions["private-room"]?.isSubscribed == false)
    }

    /// These events belong to the subscription that was given up.
    @Test func eventsThatComeBeforeTheSuccessAreDropped() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.succeed("room")
        transcript.play(.unsubscribe(channel: "room"))
        transcript.play(.subscribe(channel: "room", auth: nil))
        let late = #"{"event":"late","channel":"room","data":"1"}"#
        #expect(transcript.receive(late).deliveries.isEmpty)
        transcript.succeed("room")
        #expect(transcript.receive(late).events == ["late"])
    }

    private let succeeded = #"{"event":"pusher_internal:subscription_succeeded","channel":"room","data":"{}"}"#

    // MARK: Public channels

    // Proves P6.2, P6.3.
    @Test func publicChannelIsSubscribedWithoutAuthorization() {
        var transcript = Transcript.connected()
        #expect(
            transcript.play(.subscribe(channel: "room", auth: nil)) == [
                .command(.send(.subscribe(channel: "room", auth: nil, channelData: nil)))
            ])
        #expect(
            transcript.receive(succeeded).deliveries == [
                .event(Envelope(event: "pusher:subscription_succeeded", channel: "room", data: "{}")),
                .subscribed(channel: "room"),
            ])
        #expect(transcript.machine.subscriptions["room"]?.isSubscribed == true)
    }

    // Proves P6.3.
    @Test(arguments: [#""{}""#, "{}", #""""#, "null", nil] as [String?])
    func everyFormOfSuccessCounts(data: String?) {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "room", auth: nil))
        let member = data.map { ",\"data\":\($0)" } ?? ""
        transcript.receive(#"{"event":"pusher_internal:subscription_succeeded","channel":"room"\#(member)}"#)
        #expect(transcript.machine.subscriptions["room"]?.isSubscribed == true)
    }

    // Proves P3.10, P6.1.
    @Test func wishesMadeBeforeConnectingAreFulfilledInOrder() {
        var transcript = Transcript()
        for channel: Name in ["c", "a", "b"] { #expect(transcript.play(.subscribe(channel: channel, auth: nil)).isEmpty) }
        transcript.play(.connect)
        let channels = transcript.establish().sent.map { message in
            if case .subscribe(let channel, _, _) = message { channel } else { "" }
        }
        #expect(channels == ["c", "a", "b"])
    }

    // Proves P6.4.
    @Test func subscribingTwiceIsOnce() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "room", auth: nil))
        #expect(transcript.play(.subscribe(channel: "room", auth: nil)).isEmpty)
        transcript.receive(succeeded)
        #expect(transcript.play(.subscribe(channel: "room", auth: nil)).isEmpty)
    }

    // Proves P12.1, P12.2.
    @Test(arguments: ["", "a b", "caf\u{e9}", "#server-to-user-1", "private-\n", String(repeating: "x", count: 165)])
    func invalidNamesFailAtOnce(text: String) {
        let name = Name(text)
        var transcript = Transcript.connected()
        let outputs = transcript.play(.subscribe(channel: name, auth: nil))
        #expect(outputs.sent.isEmpty)
        guard case .subscriptionFailed(name, let failure)? = outputs.deliveries.last else {
            Issue.record("no failure: \(outputs)")
            return
        }
        #expect(failure.error.kind == .invalidRequest)
        #expect(transcript.machine.subscriptions.isEmpty)
    }

    // Proves P3.10, P6.1.
    @Test func resubscribesWhatIsStillWanted() {
        var transcript = Transcript.connected()
        for channel: Name in ["room", "gone"] { transcript.play(.subscribe(channel: channel, auth: nil)) }
        transcript.receive(succeeded)
        transcript.play(.unsubscribe(channel: "gone"))
        transcript.close(4200)
        #expect(transcript.machine.subscriptions["room"]?.isSubscribed == false)
        #expect(transcript.establish().sent == [.subscribe(channel: "room", auth: nil, channelData: nil)])
    }

    // MARK: Unsubscribing

    // Proves P6.5, P6.6.
    @Test func unsubscribeWorksInEveryState() {
        var transcript = Transcript()
        transcript.play(.subscribe(channel: "room", auth: nil))
        #expect(transcript.play(.unsubscribe(channel: "room")).isEmpty)
        transcript.play(.connect)
        #expect(transcript.establish().sent.isEmpty)

        transcript.play(.subscribe(channel: "room", auth: nil))
        #expect(transcript.play(.unsubscribe(channel: "room")) == [.command(.send(.unsubscribe(channel: "room")))])
        #expect(transcript.receive(succeeded).isEmpty, "a late success is no news")

        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.receive(succeeded)
        #expect(transcript.play(.unsubscribe(channel: "room")) == [.command(.send(.unsubscribe(channel: "room")))])
        #expect(transcript.play(.unsubscribe(channel: "room")).isEmpty)
    }

    // Proves P6.5.
    @Test func theEndOfTheClientKeepsNothing() {
        var transcript = Transcript.connected()
        for channel: Name in ["b", "a"] { transcript.play(.subscribe(channel: channel, auth: nil)) }
        #expect(transcript.play(.shutDown).sent == [.unsubscribe(channel: "b"), .unsubscribe(channel: "a")])
        #expect(transcript.machine.subscriptions.isEmpty)
    }

    // Proves P6.6.
    @Test func lateEventsOfAnUnsubscribedChannelAreDropped() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.receive(succeeded)
        let event = #"{"event":"e","channel":"room","data":"x"}"#
        #expect(transcript.receive(event).events == ["e"])
        transcript.play(.unsubscribe(channel: "room"))
        #expect(transcript.receive(event).events.isEmpty)
    }

    // Proves P2.4.
    @Test func eventsWithoutAChannelAreDelivered() {
        var transcript = Transcript.connected()
        #expect(transcript.receive(#"{"event":"online","data":{"user_ids":["1"]}}"#).events == ["online"])
    }

    // MARK: Authorization

    private func authorizing(_ channel: Name = "private-room") -> (Transcript, SubscriptionAttempt?) {
        var transcript = Transcript.connected()
        let outputs = transcript.play(.subscribe(channel: channel, auth: nil))
        return (transcript, outputs.authorizations.first)
    }

    // Proves P6.2.
    @Test func privateChannelIsSubscribedWithItsAuthorization() throws {
        var (transcript, attempt) = authorizing()
        let asked = try #require(attempt)
        #expect(asked == SubscriptionAttempt(channel: "private-room", connection: ConnectionAttempt(1), generation: 1))
        #expect(
            transcript.play(.authorized(asked, .success(PusherAuth(auth: "k:s")))) == [
                .command(.send(.subscribe(channel: "private-room", auth: "k:s", channelData: nil)))
            ])
    }

    // Proves P14.8.
    @Test func authorizationBroughtAlongIsUsed() {
        var transcript = Transcript.connected()
        #expect(
            transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:own"))) == [
                .command(.send(.subscribe(channel: "private-room", auth: "k:own", channelData: nil)))
            ])
    }

    // Proves P14.8.
    @Test func authorizationBroughtAlongIsUsedWhereTheChannelWasWantedBefore() {
        var transcript = Transcript()
        transcript.play(.subscribe(channel: "private-room", auth: nil))
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:own")))
        transcript.play(.connect)
        let sent = transcript.establish().filter { if case .command(.send(.subscribe)) = $0 { true } else { false } }
        #expect(sent == [.command(.send(.subscribe(channel: "private-room", auth: "k:own", channelData: nil)))])
    }

    // Proves P14.8.
    @Test func authorizationBroughtAlongIsForOneConnection() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:own")))
        transcript.close(4200)
        let outputs = transcript.establish()
        #expect(outputs.sent.isEmpty)
        #expect(outputs.authorizations.map(\.channel) == ["private-room"])
    }

    // Proves P6.4, P6.9.
    @Test func failedAuthorizationIsReportedAndStays() throws {
        var (transcript, attempt) = authorizing()
        let failure = AuthorizationFailure(message: "no", url: "http://h/auth", status: 403, body: "denied")
        let outputs = transcript.play(.authorized(try #require(attempt), .failure(failure)))
        let error = PusherError(.authorization, code: 403, message: "no")
        #expect(
            outputs.deliveries == [
                .event(
                    Envelope(
                        event: "pusher:subscription_error", channel: "private-room",
                        data: #"{"error":"no","status":403,"type":"AuthError"}"#)),
                .subscriptionFailed(channel: "private-room", SubscriptionFailure(error: error, authorization: failure)),
            ])
        #expect(transcript.play(.subscribe(channel: "private-room", auth: nil)).authorizations.count == 1, "asking again")
        #expect(transcript.play(.unsubscribe(channel: "private-room")).count == 1, "and it can be given up")
    }

    // Proves P6.11.
    @Test(arguments: [401, 403])
    func refusedAuthorizationIsNotAskedForAgain(status: Int) throws {
        var (transcript, attempt) = authorizing()
        let failure = AuthorizationFailure(message: "no", status: status)
        transcript.play(.authorized(try #require(attempt), .failure(failure)))
        #expect(transcript.pass(.seconds(89)).isEmpty)
        #expect(transcript.play(.subscribe(channel: "private-room", auth: nil)).authorizations.count == 1)
    }

    // Proves P6.5.
    @Test func failedChannelCanBeGivenUp() throws {
        var (transcript, attempt) = authorizing()
        transcript.play(.authorized(try #require(attempt), .failure(AuthorizationFailure(message: "no"))))
        #expect(transcript.play(.unsubscribe(channel: "private-room")).isEmpty)
        transcript.close(4200)
        #expect(transcript.establish().authorizations.isEmpty)
    }

    // Proves P6.9.
    @Test func failedChannelIsTriedAgainOnTheNextConnection() throws {
        var (transcript, attempt) = authorizing()
        transcript.play(.authorized(try #require(attempt), .failure(AuthorizationFailure(message: "no"))))
        transcript.close(4200)
        #expect(transcript.establish().authorizations.count == 1)
    }

    // Proves P6.5, P6.6.
    @Test func staleAuthorizationsAreDropped() throws {
        var (transcript, attempt) = authorizing()
        let first = try #require(attempt)
        let reply = Input.authorized(first, .success(PusherAuth(auth: "k:old")))

        #expect(transcript.play(.unsubscribe(channel: "private-room")) == [.command(.cancelAuthorization(first))])
        #expect(transcript.play(reply).withoutLogs.isEmpty, "nobody wants the channel")

        let second = try #require(transcript.play(.subscribe(channel: "private-room", auth: nil)).authorizations.first)
        #expect(transcript.play(reply).withoutLogs.isEmpty, "the channel was asked for anew")

        #expect(transcript.close(4200).contains(.command(.cancelAuthorization(second))))
        transcript.establish()
        let late = transcript.play(.authorized(second, .success(PusherAuth(auth: "k:old"))))
        #expect(late.withoutLogs.isEmpty, "signed for another socket id")
    }

    // Proves P6.8.
    @Test func authorizationTakesNoLongerThanItMay() throws {
        var (transcript, attempt) = authorizing()
        #expect(transcript.machine.nextDeadline == .seconds(15))
        let outputs = transcript.pass(.seconds(15))
        #expect(outputs.contains(.command(.cancelAuthorization(try #require(attempt), unansweredFor: .seconds(15)))))
        guard case .subscriptionFailed(_, let failure)? = outputs.deliveries.last else {
            Issue.record("no failure: \(outputs)")
            return
        }
        #expect(failure.error.kind == .timedOut)
    }

    // Proves P6.8.
    @Test func subscriptionTakesNoLongerThanItMay() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "room", auth: nil))
        #expect(transcript.pass(.seconds(30)).events == ["pusher:subscription_error"])
        #expect(transcript.receive(succeeded).deliveries.last == .subscribed(channel: "room"), "late, but it is the answer")
    }

    @Test func metDeadlinesAreForgotten() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.receive(succeeded)
        #expect(transcript.machine.nextDeadline == .seconds(90), "only the heartbeat's is left")
    }

    // MARK: Refusal by the server

    // Proves P6.7.
    @Test(arguments: ["pusher:subscription_error", "pusher_internal:subscription_error"])
    func refusalIsReported(event: String) {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:bad")))
        let outputs = transcript.receive(
            #"{"event":"\#(event)","channel":"private-room","data":{"type":"AuthError","error":"bad signature","status":401}}"#)
        let failure = SubscriptionFailure(error: PusherError(.subscriptionRefused, code: 401, message: "bad signature"))
        #expect(outputs.events == ["pusher:subscription_error"])
        #expect(outputs.deliveries.last == .subscriptionFailed(channel: "private-room", failure))
    }

    // Proves P6.7.
    @Test func refusalOfAChannelNobodyAskedForIsIgnored() {
        var transcript = Transcript.connected()
        #expect(transcript.receive(#"{"event":"pusher:subscription_error","channel":"x","data":{}}"#).isEmpty)
    }

    // MARK: Subscription count

    // Proves P6.12.
    @Test func subscriptionCountIsKeptAndReported() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.receive(succeeded)
        let outputs = transcript.receive(
            #"{"event":"pusher_internal:subscription_count","channel":"room","data":"{\"subscription_count\":7}"}"#)
        #expect(outputs.events == ["pusher:subscription_count"])
        #expect(outputs.deliveries.last == .subscriptionCount(channel: "room", 7))
        #expect(transcript.machine.subscriptions["room"]?.subscriptionCount == 7)
    }
}

@Suite struct CacheChannelTests {
    private let succeeded = #"{"event":"pusher_internal:subscription_succeeded","channel":"cache-room","data":"{}"}"#
    private let cached = #"{"event":"price","channel":"cache-room","data":"{\"amount\":1}"}"#

    // Proves P11.1.
    @Test func cacheChannelIsAuthorizedAsItsKindIs() {
        var transcript = Transcript.connected()
        #expect(
            transcript.play(.subscribe(channel: "cache-room", auth: nil)) == [
                .command(.send(.subscribe(channel: "cache-room", auth: nil, channelData: nil)))
            ])
        for channel: Name in ["private-cache-room", "presence-cache-room"] {
            let outputs = transcript.play(.subscribe(channel: channel, auth: nil))
            #expect(outputs.sent.isEmpty)
            #expect(outputs.authorizations.map(\.channel) == [channel])
        }
    }

    // Proves P11.2, P11.3.
    @Test func cachedEventFollowsEverySuccess() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "cache-room", auth: nil))
        for _ in 1...2 {
            let outputs = transcript.receive(succeeded) + transcript.receive(cached)
            #expect(outputs.events == ["pusher:subscription_succeeded", "price"])
            transcript.close(4200)
            transcript.establish()
        }
    }
}
