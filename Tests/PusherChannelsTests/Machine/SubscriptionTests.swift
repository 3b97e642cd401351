import TestSupport
import Testing

@testable import PusherChannels

@Suite struct SubscriptionTests {
    /// Found by the simulation: the success was for a subscription that had since been given up.
    @Test func `A success for an undone request doesn't subscribe a channel whose authorization failed`() throws {
        var transcript = Transcript.subscribing(to: "private-room", auth: PusherAuth(auth: "k:s"))
        transcript.play(.unsubscribe(channel: "private-room"))
        let asked = transcript.play(.subscribe(channel: "private-room", auth: nil)).authorizations
        transcript.play(.authorized(try #require(asked.first), .failure(AuthorizationFailure(message: "no", isRetryable: true))))
        #expect(transcript.succeed("private-room").deliveries.isEmpty)
        #expect(transcript.machine.subscriptions["private-room"]?.isSubscribed == false)
    }

    @Test func `Events that arrive before a renewed subscription succeeds are dropped`() {
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

    // Proves P6.2, P6.3.
    @Test func `A public channel is subscribed at once, without authorization`() {
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
    func `A subscription succeeds whatever data its success event has`(data: String?) {
        var transcript = Transcript.subscribing(to: "room")
        let member = data.map { ",\"data\":\($0)" } ?? ""
        transcript.receive(#"{"event":"pusher_internal:subscription_succeeded","channel":"room"\#(member)}"#)
        #expect(transcript.machine.subscriptions["room"]?.isSubscribed == true)
    }

    // Proves P3.10, P6.1.
    @Test func `Channels wanted before connecting are subscribed in the order of the requests`() {
        var transcript = Transcript()
        for channel: Name in ["c", "a", "b"] { #expect(transcript.play(.subscribe(channel: channel, auth: nil)).isEmpty) }
        transcript.play(.connect)
        let channels = transcript.establish().sent.map { message in
            if case .subscribe(let channel, _, _, _) = message { channel } else { "" }
        }
        #expect(channels == ["c", "a", "b"])
    }

    // Proves P6.4.
    @Test func `Subscribing to a channel that is already wanted sends nothing`() {
        var transcript = Transcript.subscribing(to: "room")
        #expect(transcript.play(.subscribe(channel: "room", auth: nil)).isEmpty)
        transcript.receive(succeeded)
        #expect(transcript.play(.subscribe(channel: "room", auth: nil)).isEmpty)
    }

    // Proves P12.1, P12.2.
    @Test(arguments: ["", "a b", "caf\u{e9}", "#server-to-user-1", "private-\n", String(repeating: "x", count: 165)])
    func `A channel with an invalid name fails at once, without asking the server`(text: String) {
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
    @Test func `The next connection subscribes to the channels still wanted, and to no others`() {
        var transcript = Transcript.connected()
        for channel: Name in ["room", "gone"] { transcript.play(.subscribe(channel: channel, auth: nil)) }
        transcript.receive(succeeded)
        transcript.play(.unsubscribe(channel: "gone"))
        transcript.close(4200)
        #expect(transcript.machine.subscriptions["room"]?.isSubscribed == false)
        #expect(transcript.establish().sent == [.subscribe(channel: "room", auth: nil, channelData: nil)])
    }

    // Proves P6.5, P6.6.
    @Test func `Unsubscribing tells the server only if the server was asked for the channel`() {
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
    @Test func `A shutdown unsubscribes from all channels and forgets them`() {
        var transcript = Transcript.connected()
        for channel: Name in ["b", "a"] { transcript.play(.subscribe(channel: channel, auth: nil)) }
        #expect(transcript.play(.shutDown).sent == [.unsubscribe(channel: "b"), .unsubscribe(channel: "a")])
        #expect(transcript.machine.subscriptions.isEmpty)
    }

    // Proves P6.6.
    @Test func `Events of a channel that was unsubscribed are dropped`() {
        var transcript = Transcript.subscribed(to: "room")
        let event = #"{"event":"e","channel":"room","data":"x"}"#
        #expect(transcript.receive(event).events == ["e"])
        transcript.play(.unsubscribe(channel: "room"))
        #expect(transcript.receive(event).events.isEmpty)
    }

    private func authorizing(_ channel: Name = "private-room") -> (Transcript, SubscriptionAttempt?) {
        var transcript = Transcript.connected()
        let outputs = transcript.play(.subscribe(channel: channel, auth: nil))
        return (transcript, outputs.authorizations.first)
    }

    // Proves P6.2.
    @Test func `A private channel is subscribed with the authorization requested for it`() throws {
        var (transcript, attempt) = authorizing()
        let asked = try #require(attempt)
        #expect(asked == SubscriptionAttempt(channel: "private-room", connection: ConnectionAttempt(1), generation: 1))
        #expect(
            transcript.play(.authorized(asked, .success(PusherAuth(auth: "k:s")))) == [
                .command(.send(.subscribe(channel: "private-room", auth: "k:s", channelData: nil)))
            ])
    }

    // Proves P14.8.
    @Test func `An authorization given later for a channel wanted before is used on connecting`() {
        var transcript = Transcript()
        transcript.play(.subscribe(channel: "private-room", auth: nil))
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:own")))
        transcript.play(.connect)
        let sent = transcript.establish().filter { if case .command(.send(.subscribe)) = $0 { true } else { false } }
        #expect(sent == [.command(.send(.subscribe(channel: "private-room", auth: "k:own", channelData: nil)))])
    }

    // Proves P14.8.
    @Test func `An authorization given with the subscription is used without requesting another, for one connection only`() {
        var transcript = Transcript.connected()
        #expect(
            transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:own"))) == [
                .command(.send(.subscribe(channel: "private-room", auth: "k:own", channelData: nil)))
            ])
        let outputs = transcript.restart()
        #expect(outputs.sent.isEmpty)
        #expect(outputs.authorizations.map(\.channel) == ["private-room"])
    }

    // Proves P6.4, P6.9.
    @Test func `A failed authorization is reported, and the channel stays wanted`() throws {
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
    func `An authorization refused with 401 or 403 isn't requested again until the user asks`(status: Int) throws {
        var (transcript, attempt) = authorizing()
        let failure = AuthorizationFailure(message: "no", status: status)
        transcript.play(.authorized(try #require(attempt), .failure(failure)))
        #expect(transcript.pass(.seconds(89)).isEmpty)
        #expect(transcript.play(.subscribe(channel: "private-room", auth: nil)).authorizations.count == 1)
    }

    // Proves P6.5.
    @Test func `A channel whose authorization failed can be unsubscribed and isn't tried again`() throws {
        var (transcript, attempt) = authorizing()
        transcript.play(.authorized(try #require(attempt), .failure(AuthorizationFailure(message: "no"))))
        #expect(transcript.play(.unsubscribe(channel: "private-room")).isEmpty)
        #expect(transcript.restart().authorizations.isEmpty)
    }

    // Proves P6.5, P6.6.
    @Test func `An authorization for an earlier request or connection is dropped`() throws {
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
    @Test func `An authorization not answered within 15 seconds is canceled and times out`() throws {
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
    @Test func `A subscription not answered within 30 seconds times out, but a later success counts`() {
        var transcript = Transcript.subscribing(to: "room")
        #expect(transcript.pass(.seconds(30)).events == ["pusher:subscription_error"])
        #expect(transcript.receive(succeeded).deliveries.last == .subscribed(channel: "room"), "late, but it is the answer")
    }

    // Proves P6.7.
    @Test(arguments: ["pusher:subscription_error", "pusher_internal:subscription_error"])
    func `A subscription_error with either prefix is reported as a refusal`(event: String) {
        var transcript = Transcript.subscribing(to: "private-room", auth: PusherAuth(auth: "k:bad"))
        let outputs = transcript.receive(
            #"{"event":"\#(event)","channel":"private-room","data":{"type":"AuthError","error":"bad signature","status":401}}"#)
        let failure = SubscriptionFailure(error: PusherError(.subscriptionRefused, code: 401, message: "bad signature"))
        #expect(outputs.events == ["pusher:subscription_error"])
        #expect(outputs.deliveries.last == .subscriptionFailed(channel: "private-room", failure))
    }

    // Proves P6.7.
    @Test func `A refusal of a channel that is not wanted is ignored`() {
        var transcript = Transcript.connected()
        #expect(transcript.receive(#"{"event":"pusher:subscription_error","channel":"x","data":{}}"#).isEmpty)
    }

    // Proves P6.12.
    @Test func `A channel's subscription count is kept and reported`() {
        var transcript = Transcript.subscribed(to: "room")
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

    // Proves P11.2, P11.3.
    @Test func `The cached event follows every success of a cache channel`() {
        var transcript = Transcript.subscribing(to: "cache-room")
        for _ in 1...2 {
            let outputs = transcript.receive(succeeded) + transcript.receive(cached)
            #expect(outputs.events == ["pusher:subscription_succeeded", "price"])
            transcript.restart()
        }
    }
}
