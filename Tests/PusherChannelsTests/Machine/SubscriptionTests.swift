import TestSupport
import Testing

@testable import PusherChannels

@Suite struct SubscriptionTests {
    private let channel: Name = "private-room"

    private func authorizing() throws -> (Transcript, SubscriptionAttempt) {
        var transcript = Transcript.connected()
        let asked = transcript.subscribe(channel).authorizations.first
        return (transcript, try #require(asked))
    }

    /// Found by the simulation: the success was for a subscription that had since been given up.
    @Test func `A success for an undone request doesn't subscribe a channel whose authorization failed`() throws {
        var transcript = Transcript.subscribing(to: channel, auth: .signed)
        transcript.unsubscribe(channel)
        let asked = transcript.subscribe(channel).authorizations
        transcript.play(.authorized(try #require(asked.first), .failure(AuthorizationFailure(message: "no", isRetryable: true))))
        #expect(transcript.succeed(channel).deliveries.isEmpty)
        #expect(transcript.machine.subscriptions[channel]?.isSubscribed == false)
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

    // Proves P6.2, P6.3.
    @Test func `A public channel is subscribed at once, without authorization`() {
        var transcript = Transcript.connected()
        #expect(transcript.subscribe("room") == [.send(.subscription(to: "room"))])
        #expect(
            transcript.succeed("room").deliveries == [
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

    // Proves P6.4.
    @Test func `Subscribing to a channel that is already wanted sends nothing`() {
        var transcript = Transcript.subscribing(to: "room")
        #expect(transcript.subscribe("room").isEmpty)
        transcript.succeed("room")
        #expect(transcript.subscribe("room").isEmpty)
    }

    // Proves P12.1, P12.2.
    @Test(
        arguments: [
            "", "a b", "caf\u{e9}", "#server-to-user-1", "private-\n", String(repeating: "x", count: 165), "prices-*",
            "[meta]prices",
        ])
    func `A channel with an invalid name fails at once, without asking the server`(text: String) {
        var transcript = Transcript.connected()
        let outputs = transcript.subscribe(Name(text))
        #expect(outputs.sent.isEmpty)
        #expect(outputs.failures.map(\.kind) == [.invalidRequest])
        #expect(transcript.machine.subscriptions.isEmpty)
    }

    // Proves P3.10, P6.1.
    @Test func `Each connection subscribes to the channels still wanted, in the order of the requests, and to no others`() {
        var transcript = Transcript()
        let wanted: [Name] = ["c", "a", "gone", "b"]
        for channel in wanted { #expect(transcript.subscribe(channel).isEmpty) }
        transcript.play(.connect)
        #expect(transcript.establish().sent == wanted.map { ClientMessage.subscription(to: $0) })
        transcript.succeed("a")
        transcript.unsubscribe("gone")
        transcript.close(4200)
        #expect(transcript.machine.subscriptions["a"]?.isSubscribed == false)
        let remaining = wanted.filter { $0 != "gone" }
        #expect(transcript.establish().sent == remaining.map { ClientMessage.subscription(to: $0) })
    }

    // Proves P6.5, P6.6.
    @Test func `Unsubscribing tells the server only if the server was asked for the channel`() {
        var transcript = Transcript()
        transcript.subscribe("room")
        #expect(transcript.unsubscribe("room").isEmpty)
        transcript.play(.connect)
        #expect(transcript.establish().sent.isEmpty)

        transcript.subscribe("room")
        #expect(transcript.unsubscribe("room") == [.send(.unsubscribe(channel: "room"))])
        #expect(transcript.succeed("room").isEmpty, "a late success is no news")

        transcript.subscribe("room")
        transcript.succeed("room")
        let event = #"{"event":"e","channel":"room","data":"x"}"#
        #expect(transcript.receive(event).events == ["e"])
        #expect(transcript.unsubscribe("room") == [.send(.unsubscribe(channel: "room"))])
        #expect(transcript.receive(event).events.isEmpty, "nor is a late event")
        #expect(transcript.unsubscribe("room").isEmpty)
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

    // Proves P11.2, P11.3.
    @Test func `The cached event follows every success of a cache channel`() {
        var transcript = Transcript.subscribing(to: "cache-room")
        for _ in 1...2 {
            let cached = #"{"event":"price","channel":"cache-room","data":"{\"amount\":1}"}"#
            let outputs = transcript.succeed("cache-room") + transcript.receive(cached)
            #expect(outputs.events == ["pusher:subscription_succeeded", "price"])
            transcript.restart()
        }
    }

    // MARK: Authorization

    // Proves P6.2.
    @Test func `A private channel is subscribed with the authorization requested for it`() throws {
        var (transcript, asked) = try authorizing()
        #expect(asked == SubscriptionAttempt(channel: channel, connection: ConnectionAttempt(1), generation: 1))
        #expect(transcript.authorize(asked) == [.send(.subscription(to: channel, auth: "k:s"))])
    }

    // Proves P14.8.
    @Test func `An authorization given with a request, also a later one, is used instead of another, for one connection`() {
        let request = ClientMessage.subscription(to: channel, auth: "k:s")
        var transcript = Transcript.connected()
        #expect(transcript.subscribe(channel, auth: .signed) == [.send(request)])
        let outputs = transcript.restart()
        #expect(outputs.sent.isEmpty)
        #expect(outputs.authorizations.map(\.channel) == [channel])
        transcript = Transcript()
        for auth in [nil, PusherAuth.signed] { transcript.subscribe(channel, auth: auth) }
        transcript.play(.connect)
        #expect(transcript.establish().sent == [request])
    }

    // Proves P6.4, P6.9, P6.11.
    @Test(arguments: [401, 403])
    func `A refused authorization is reported, and the channel stays wanted until the user asks again`(status: Int) throws {
        var (transcript, asked) = try authorizing()
        let failure = AuthorizationFailure(message: "no", url: "http://h/auth", status: status, body: "denied")
        let error = PusherError(.authorization, code: status, message: "no")
        let data = #"{"error":"no","status":\#(status),"type":"AuthError"}"#
        #expect(
            transcript.play(.authorized(asked, .failure(failure))).deliveries == [
                .event(Envelope(event: "pusher:subscription_error", channel: channel, data: data)),
                .subscriptionFailed(channel: channel, SubscriptionFailure(error: error, authorization: failure)),
            ])
        #expect(transcript.pass(.seconds(89)).isEmpty)
        #expect(transcript.subscribe(channel).authorizations.count == 1, "asking again")
        #expect(transcript.unsubscribe(channel).count == 1, "and it can be given up")
    }

    // Proves P6.5.
    @Test(arguments: [false, true])
    func `A channel whose authorization failed can be unsubscribed and isn't tried again`(isRetryable: Bool) throws {
        var (transcript, asked) = try authorizing()
        let failure = AuthorizationFailure(message: "no", isRetryable: isRetryable)
        transcript.play(.authorized(asked, .failure(failure)))
        #expect(transcript.unsubscribe(channel).isEmpty)
        #expect(transcript.pass(.seconds(60)).authorizations.isEmpty)
        #expect(transcript.restart().authorizations.isEmpty)
    }

    // Proves P6.5, P6.6.
    @Test func `An authorization for an earlier request or connection is dropped`() throws {
        var (transcript, first) = try authorizing()
        #expect(transcript.unsubscribe(channel) == [.command(.cancelAuthorization(first))])
        #expect(transcript.authorize(first).withoutLogs.isEmpty, "nobody wants the channel")

        let second = try #require(transcript.subscribe(channel).authorizations.first)
        #expect(transcript.authorize(first).withoutLogs.isEmpty, "the channel was asked for anew")

        #expect(transcript.close(4200).contains(.command(.cancelAuthorization(second))))
        transcript.establish()
        #expect(transcript.authorize(second).withoutLogs.isEmpty, "signed for another socket id")
    }

    // MARK: No answer

    // Proves P6.8, P6.10.
    @Test func `An authorization not answered within 15 seconds is canceled, times out, and is requested again`() throws {
        var (transcript, asked) = try authorizing()
        #expect(transcript.machine.nextDeadline == .seconds(15))
        let outputs = transcript.pass(.seconds(15))
        #expect(outputs.contains(.command(.cancelAuthorization(asked, unansweredFor: .seconds(15)))))
        #expect(outputs.events == ["pusher:subscription_error"])
        #expect(outputs.failures.map(\.kind) == [.timedOut])
        #expect((outputs + transcript.pass(.seconds(2))).authorizations.count == 1)
    }

    // Proves P6.8.
    @Test func `A subscription not answered within 30 seconds times out, but a later success counts`() {
        var transcript = Transcript.subscribing(to: "room")
        #expect(transcript.pass(.seconds(30)).events == ["pusher:subscription_error"])
        #expect(transcript.succeed("room").deliveries.last == .subscribed(channel: "room"), "late, but it is the answer")
    }

    // MARK: Refusals

    // Proves P6.7.
    @Test(arguments: ["pusher:subscription_error", "pusher_internal:subscription_error"])
    func `A subscription_error refuses a channel, unless it isn't wanted or is being authorized`(event: String) throws {
        let refusal = #"{"event":"\#(event)","channel":"private-room","data":{"type":"AuthError","error":"bad","status":401}}"#
        var transcript = Transcript.subscribing(to: channel, auth: .signed)
        let outputs = transcript.receive(refusal)
        let failure = SubscriptionFailure(error: PusherError(.subscriptionRefused, code: 401, message: "bad"))
        #expect(outputs.events == ["pusher:subscription_error"])
        #expect(outputs.deliveries.last == .subscriptionFailed(channel: channel, failure))
        var idle = Transcript.connected()
        #expect(idle.receive(refusal).isEmpty)
        var (waiting, asked) = try authorizing()
        #expect(waiting.receive(refusal).isEmpty)
        #expect(waiting.authorize(asked).sent.count == 1)
    }
}
