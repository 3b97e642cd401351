import Testing

@testable import PusherChannels

@Suite struct SubscriptionRetryTests {
    private let channel: Name = "private-room"

    private func authorizing() -> (Transcript, [SubscriptionAttempt]) {
        var transcript = Transcript.connected()
        let asked = transcript.play(.subscribe(channel: channel, auth: nil)).authorizations
        return (transcript, asked)
    }

    private func failure(status: Int?, isRetryable: Bool) -> Result<PusherAuth, AuthorizationFailure> {
        .failure(AuthorizationFailure(message: "no", status: status, isRetryable: isRetryable))
    }

    /// A connection on which the channel's authorization failed.
    private func failed(status: Int, isRetryable: Bool = true, retryAfter: Duration? = nil) throws -> Transcript {
        var (transcript, asked) = authorizing()
        let failure = AuthorizationFailure(message: "no", status: status, isRetryable: isRetryable, retryAfter: retryAfter)
        transcript.play(.authorized(try #require(asked.first), .failure(failure)))
        return transcript
    }

    // Proves P6.10.
    @Test func `An authorization whose failure may pass is requested again`() throws {
        var transcript = try failed(status: 503)
        let again = transcript.pass(.seconds(1)).authorizations
        #expect(again.map(\.channel) == [channel])
        transcript.play(.authorized(try #require(again.first), .success(PusherAuth(auth: "k:s"))))
        #expect(transcript.machine.subscriptions[channel]?.isSubscribing == true)
    }

    // Proves P14.14.
    @Test func `An authorization endpoint isn't asked again before its Retry-After has passed`() throws {
        var transcript = try failed(status: 429, retryAfter: .seconds(20))
        #expect(transcript.pass(.seconds(19)).authorizations.isEmpty)
        #expect(transcript.pass(.seconds(1)).authorizations.map(\.channel) == [channel])
    }

    /// A server restart and a busy backend go together.
    // Proves P14.14.
    @Test func `The next connection waits for an authorization's Retry-After, too`() throws {
        var transcript = try failed(status: 429, retryAfter: .seconds(20))
        #expect(transcript.restart().authorizations.isEmpty)
        #expect(transcript.pass(.seconds(19)).authorizations.isEmpty)
        let again = transcript.pass(.seconds(1)).authorizations
        #expect(again.map(\.channel) == [channel])
        transcript.play(.authorized(try #require(again.first), .success(PusherAuth(auth: "k:s"))))
        transcript.succeed(channel)
        #expect(transcript.restart().authorizations.count == 1, "that is over")
    }

    /// A backend may name a day, and a connection flap.
    @Test func `A long Retry-After that outlasts many connections leaves a single deadline`() throws {
        var transcript = try failed(status: 429, retryAfter: .seconds(86_400))
        for _ in 0..<10 {
            transcript.close(4200)
            transcript.play(.connect)
            #expect(transcript.establish().authorizations.isEmpty)
        }
        #expect(transcript.machine.subscriptions.deadlines.count == 1)
    }

    @Test func `A user who subscribes again on the next connection doesn't wait for a Retry-After`() throws {
        var transcript = try failed(status: 429, retryAfter: .seconds(20))
        transcript.restart()
        #expect(transcript.play(.subscribe(channel: channel, auth: nil)).authorizations.count == 1)
    }

    @Test func `A user who subscribes again skips the retry's delay, and only one request is made`() throws {
        var transcript = try failed(status: 503)
        #expect(transcript.play(.subscribe(channel: channel, auth: nil)).authorizations.count == 1)
        #expect(transcript.pass(.seconds(5)).authorizations.isEmpty, "one try at a time")
    }

    // Proves P6.10.
    @Test func `Delays between authorization retries grow to at most a minute`() throws {
        var (transcript, asked) = authorizing()
        var pauses: [Duration] = []
        for _ in 0..<30 {
            transcript.play(.authorized(try #require(asked.first), failure(status: nil, isRetryable: true)))
            transcript.receive(#"{"event":"pusher:ping"}"#)
            let failed = transcript.now
            asked = transcript.passToDeadline().authorizations
            pauses.append(transcript.now - failed)
        }
        #expect(try #require(pauses.first) <= .seconds(1))
        #expect(try #require(pauses.max()) <= .seconds(60))
        #expect(try #require(pauses.suffix(10).max()) > .seconds(10))
    }

    @Test func `A successful subscription makes the retry delays short again`() throws {
        var (transcript, asked) = authorizing()
        for _ in 0..<10 {
            transcript.play(.authorized(try #require(asked.first), failure(status: nil, isRetryable: true)))
            transcript.receive(#"{"event":"pusher:ping"}"#)
            asked = transcript.passToDeadline().authorizations
        }
        transcript.play(.authorized(try #require(asked.first), .success(PusherAuth(auth: "k:s"))))
        transcript.succeed(channel)
        transcript.receive(
            #"{"event":"pusher:subscription_error","channel":"private-room","data":"{\"error\":\"no\",\"status\":500}"}"#)
        #expect(transcript.pass(.seconds(1)).authorizations.count == 1)
    }

    /// Otherwise the server, which already has the subscription, would keep answering "Existing subscription" forever.
    @Test func `A success that comes while the next try is being authorized counts and cancels the try`() throws {
        var (transcript, asked) = authorizing()
        transcript.play(.authorized(try #require(asked.first), .success(PusherAuth(auth: "k:s"))))
        transcript.pass(.seconds(30))
        transcript.receive(#"{"event":"pusher:pong"}"#)
        asked = transcript.pass(.seconds(1)).authorizations
        let again = try #require(asked.first)
        let outputs = transcript.succeed(channel)
        #expect(outputs.contains(.command(.cancelAuthorization(again))))
        #expect(outputs.deliveries.contains(.subscribed(channel: channel)))
        #expect(transcript.play(.authorized(again, .success(PusherAuth(auth: "k:s")))).sent.isEmpty)
    }

    // Proves P6.5.
    @Test func `Unsubscribing during a retry also tells the server, which may have the subscription`() throws {
        var (transcript, asked) = authorizing()
        transcript.play(.authorized(try #require(asked.first), .success(PusherAuth(auth: "k:s"))))
        transcript.pass(.seconds(30))
        transcript.receive(#"{"event":"pusher:pong"}"#)
        asked = transcript.pass(.seconds(1)).authorizations
        let outputs = transcript.play(.unsubscribe(channel: channel))
        #expect(
            outputs == [
                .command(.cancelAuthorization(try #require(asked.first))), .command(.send(.unsubscribe(channel: channel.text))),
            ])
    }

    @Test func `A retried failure is reported once for each reason, and again after a new request`() throws {
        var (transcript, asked) = authorizing()
        var reported: [Int] = []
        for status in [500, 500, 503, 503, 500] {
            let outputs = transcript.play(.authorized(try #require(asked.first), failure(status: status, isRetryable: true)))
            reported.append(outputs.events.filter { $0 == "pusher:subscription_error" }.count)
            asked = transcript.passToDeadline().authorizations
        }
        #expect(reported == [1, 0, 1, 0, 1])
        transcript.play(.subscribe(channel: channel, auth: nil))
        let outputs = transcript.play(.authorized(try #require(asked.first), failure(status: 500, isRetryable: true)))
        #expect(outputs.events == [], "it was being asked for")
        asked = transcript.play(.subscribe(channel: channel, auth: nil)).authorizations
        let again = transcript.play(.authorized(try #require(asked.first), failure(status: 500, isRetryable: true)))
        #expect(again.events == ["pusher:subscription_error"], "who asks again hears what becomes of it")
    }

    // Proves P6.8, P6.10.
    @Test func `An authorization that times out is reported and requested again`() {
        var (transcript, _) = authorizing()
        let outputs = transcript.pass(.seconds(17))
        #expect(outputs.events == ["pusher:subscription_error"])
        #expect(outputs.authorizations.count == 1)
    }

    // Proves P6.7, P6.10, P6.11.
    @Test(arguments: [
        (500, true), (503, true), (599, true), (429, true), (4100, true), (4199, true), (4200, true), (4299, true), (4099, false),
        (4300, false), (4301, false), (499, false), (600, false), (401, false), (403, false), (428, false), (nil, false),
    ])
    func `A server's refusal is retried only if its status is 429, 5xx, or 4100 to 4299`(status: Int?, isTriedAgain: Bool) {
        var transcript = Transcript.subscribing(to: "room")
        let data = status.map { #"{"error":"no","status":\#($0)}"# } ?? "{}"
        transcript.receive(#"{"event":"pusher:subscription_error","channel":"room","data":\#(data)}"#)
        let again = transcript.pass(.seconds(1)).sent
        #expect(again == (isTriedAgain ? [.subscribe(channel: "room", auth: nil, channelData: nil)] : []))
    }

    // Proves P6.9.
    @Test func `The next connection tries a channel with a refused authorization again`() throws {
        var transcript = try failed(status: 403, isRetryable: false)
        #expect(transcript.restart().authorizations.map(\.channel) == [channel])
    }

    @Test func `A channel unsubscribed while it waits for a retry isn't tried again`() throws {
        var transcript = try failed(status: 503)
        #expect(transcript.play(.unsubscribe(channel: channel)).isEmpty)
        #expect(transcript.pass(.seconds(60)).authorizations.isEmpty)
    }

    // Proves P6.5.
    @Test func `A channel that timed out is unsubscribed at the server, but a refused one isn't`() {
        var transcript = Transcript.subscribing(to: "room")
        transcript.pass(.seconds(30))
        #expect(transcript.play(.unsubscribe(channel: "room")) == [.command(.send(.unsubscribe(channel: "room")))])
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.receive(#"{"event":"pusher:subscription_error","channel":"room","data":{"error":"no","status":403}}"#)
        #expect(transcript.play(.unsubscribe(channel: "room")).isEmpty, "refused is refused")
    }

    // Proves P6.6.
    @Test func `A success after a refusal counts, as the refusal may be for an earlier request`() {
        var transcript = Transcript.subscribing(to: "room")
        transcript.play(.unsubscribe(channel: "room"))
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.receive(#"{"event":"pusher:subscription_error","channel":"room","data":{"error":"no","status":403}}"#)
        #expect(transcript.succeed("room").deliveries.contains(.subscribed(channel: "room")))
        #expect(transcript.play(.unsubscribe(channel: "room")) == [.command(.send(.unsubscribe(channel: "room")))])
    }

    // Proves P6.5, P14.10.
    @Test func `A channel that an unnamed error refused is still unsubscribed at the server`() {
        var transcript = Transcript.subscribing(to: channel, auth: PusherAuth(auth: "k:s"))
        transcript.receive(#"{"event":"pusher:error","data":{"code":4009,"message":"Connection is unauthorized"}}"#)
        #expect(transcript.play(.unsubscribe(channel: channel)) == [.command(.send(.unsubscribe(channel: channel.text)))])
    }
}
