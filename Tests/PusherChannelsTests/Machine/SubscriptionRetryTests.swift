import Testing

@testable import PusherChannels

@Suite struct SubscriptionRetryTests {
    private let channel: Name = "private-room"

    private func authorizing() -> (Transcript, [SubscriptionAttempt]) {
        var transcript = Transcript.connected()
        let asked = transcript.subscribe(channel).authorizations
        return (transcript, asked)
    }

    @discardableResult
    private func fail(
        _ asked: [SubscriptionAttempt], status: Int? = nil, isRetryable: Bool = true, retryAfter: Duration? = nil,
        _ transcript: inout Transcript
    ) throws -> [Output] {
        let failure = AuthorizationFailure(message: "no", status: status, isRetryable: isRetryable, retryAfter: retryAfter)
        return transcript.play(.authorized(try #require(asked.first), .failure(failure)))
    }

    private func failed(status: Int, isRetryable: Bool = true, retryAfter: Duration? = nil) throws -> Transcript {
        var (transcript, asked) = authorizing()
        try fail(asked, status: status, isRetryable: isRetryable, retryAfter: retryAfter, &transcript)
        return transcript
    }

    // Proves P6.10.
    @Test func `An authorization whose failure may pass is requested again`() throws {
        var transcript = try failed(status: 503)
        let again = transcript.pass(.seconds(1)).authorizations
        #expect(again.map(\.channel) == [channel])
        transcript.authorize(try #require(again.first))
        #expect(transcript.machine.subscriptions[channel]?.isSubscribing == true)
    }

    /// A server restart and a busy backend go together.
    // Proves P14.14.
    @Test(arguments: [false, true])
    func `An authorization endpoint isn't asked again before its Retry-After, even by the next connection`(isLost: Bool) throws {
        var transcript = try failed(status: 429, retryAfter: .seconds(20))
        if isLost { #expect(transcript.restart().authorizations.isEmpty) }
        #expect(transcript.pass(.seconds(19)).authorizations.isEmpty)
        let again = transcript.pass(.seconds(1)).authorizations
        #expect(again.map(\.channel) == [channel])
        transcript.authorize(try #require(again.first))
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

    @Test func `A user who subscribes again doesn't wait for a delay or a Retry-After, and only one request is made`() throws {
        var transcript = try failed(status: 503)
        #expect(transcript.subscribe(channel).authorizations.count == 1)
        #expect(transcript.pass(.seconds(5)).authorizations.isEmpty, "one try at a time")
        transcript = try failed(status: 429, retryAfter: .seconds(20))
        transcript.restart()
        #expect(transcript.subscribe(channel).authorizations.count == 1, "on the next connection, too")
    }

    // Proves P6.10.
    @Test func `Delays between authorization retries grow to at most a minute`() throws {
        var (transcript, asked) = authorizing()
        var pauses: [Duration] = []
        for _ in 0..<30 {
            try fail(asked, &transcript)
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
            try fail(asked, &transcript)
            transcript.receive(#"{"event":"pusher:ping"}"#)
            asked = transcript.passToDeadline().authorizations
        }
        transcript.authorize(try #require(asked.first))
        transcript.succeed(channel)
        transcript.receiveRefusal(of: channel, status: 500)
        #expect(transcript.pass(.seconds(1)).authorizations.count == 1)
    }

    /// A connection on which the server didn't answer, and another try is being authorized.
    private func unanswered() throws -> (Transcript, again: SubscriptionAttempt) {
        var (transcript, asked) = authorizing()
        transcript.authorize(try #require(asked.first))
        transcript.pass(.seconds(30))
        transcript.receive(#"{"event":"pusher:pong"}"#)
        asked = transcript.pass(.seconds(1)).authorizations
        return (transcript, try #require(asked.first))
    }

    /// Otherwise the server, which already has the subscription, would keep answering "Existing subscription" forever.
    @Test func `A success that comes while the next try is being authorized counts and cancels the try`() throws {
        var (transcript, again) = try unanswered()
        let outputs = transcript.succeed(channel)
        #expect(outputs.contains(.command(.cancelAuthorization(again))))
        #expect(outputs.deliveries.contains(.subscribed(channel: channel)))
        #expect(transcript.authorize(again).sent.isEmpty)
    }

    // Proves P6.5.
    @Test func `Unsubscribing during a retry also tells the server, which may have the subscription`() throws {
        var (transcript, again) = try unanswered()
        let outputs = transcript.unsubscribe(channel)
        #expect(outputs == [.command(.cancelAuthorization(again)), .send(.unsubscribe(channel: channel.text))])
    }

    @Test func `A retried failure is reported once for each reason, and again after a new request`() throws {
        var (transcript, asked) = authorizing()
        var reported: [Int] = []
        for status in [500, 500, 503, 503, 500] {
            reported.append(try fail(asked, status: status, &transcript).events.count { $0 == "pusher:subscription_error" })
            asked = transcript.passToDeadline().authorizations
        }
        #expect(reported == [1, 0, 1, 0, 1])
        transcript.subscribe(channel)
        let expected = try fail(asked, status: 500, &transcript)
        #expect(expected.events == [], "it was being asked for")
        asked = transcript.subscribe(channel).authorizations
        let again = try fail(asked, status: 500, &transcript)
        #expect(again.events == ["pusher:subscription_error"], "who asks again hears what becomes of it")
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
        #expect(transcript.pass(.seconds(1)).sent == (isTriedAgain ? [.subscription(to: "room")] : []))
    }

    // Proves P6.9.
    @Test func `The next connection tries a channel with a refused authorization again`() throws {
        var transcript = try failed(status: 403, isRetryable: false)
        #expect(transcript.restart().authorizations.map(\.channel) == [channel])
    }

    // Proves P6.5, P14.10.
    @Test func `A channel that timed out, or got an unnamed error, is unsubscribed at the server, but a refused one isn't`() {
        let unsubscribed: [Output] = [.send(.unsubscribe(channel: channel.text))]
        var transcript = Transcript.subscribing(to: channel, auth: .signed)
        var unnamed = transcript
        transcript.pass(.seconds(30))
        #expect(transcript.unsubscribe(channel) == unsubscribed)
        transcript.subscribe(channel, auth: .signed)
        transcript.receiveRefusal(of: channel)
        #expect(transcript.unsubscribe(channel).isEmpty, "refused is refused")
        unnamed.receiveError("Connection is unauthorized", code: 4009)
        #expect(unnamed.unsubscribe(channel) == unsubscribed)
    }

    // Proves P6.6.
    @Test func `A success after a refusal counts, as the refusal may be for an earlier request`() {
        var transcript = Transcript.subscribing(to: "room")
        transcript.unsubscribe("room")
        transcript.subscribe("room")
        transcript.receiveRefusal(of: "room")
        #expect(transcript.succeed("room").deliveries.contains(.subscribed(channel: "room")))
        #expect(transcript.unsubscribe("room") == [.send(.unsubscribe(channel: "room"))])
    }

    /// It may come while nobody wants the channel, or while it is authorized again; some servers name the channel in an error.
    // Proves P6.7.
    @Test(arguments: [false, true], [false, true])
    func `The refusal of an undone request is its answer, so the next success counts`(isError: Bool, isWanted: Bool) throws {
        var transcript = Transcript.subscribing(to: channel, auth: .signed)
        transcript.unsubscribe(channel)
        func refuse() {
            if isError {
                transcript.receiveError("no signature for \(channel)", code: 4009)
            } else {
                transcript.receiveRefusal(of: channel)
            }
        }
        if !isWanted { refuse() }
        let asked = try #require(transcript.subscribe(channel).authorizations.first)
        if isWanted { refuse() }
        transcript.authorize(asked)
        #expect(transcript.succeed(channel).deliveries.contains(.subscribed(channel: channel)))
    }

    // Proves P6.7.
    @Test(arguments: [false, true])
    func `A refusal while a second request is on its way answers the first one, and the second can be undone`(isError: Bool) {
        var transcript = Transcript.subscribing(to: channel, auth: .signed)
        transcript.unsubscribe(channel)
        transcript.subscribe(channel, auth: .signed)
        let outputs =
            isError ? transcript.receiveError("no signature for \(channel)", code: 4009) : transcript.receiveRefusal(of: channel)
        #expect(outputs.failures.isEmpty)
        #expect(transcript.unsubscribe(channel) == [.send(.unsubscribe(channel: channel.text))])
    }
}

@Suite struct AuthorizationQueueTests {
    private func connected(channels: Int, limit: Int) -> (Transcript, [SubscriptionAttempt]) {
        var transcript = Transcript { $0.concurrentAuthorizations = limit }
        for number in 0..<channels { transcript.subscribe("private-\(number)") }
        transcript.play(.connect)
        let asked = transcript.establish().authorizations
        return (transcript, asked)
    }

    // Proves P14.11.
    @Test func `Authorizations of 5,000 channels are requested in order, a limited number at a time`() {
        var (transcript, asked) = connected(channels: 5_000, limit: 16)
        var order = asked.map(\.channel)
        #expect(asked.count == 16)
        while !asked.isEmpty {
            let next = transcript.authorize(asked.removeFirst()).authorizations
            asked += next
            order += next.map(\.channel)
            guard asked.count <= 16 else { return #expect(Bool(false), "\(asked.count) at a time") }
        }
        #expect(order == (0..<5_000).map { "private-\($0)" })
        for number in 0..<5_000 { transcript.succeed("private-\(number)") }
        #expect(transcript.machine.subscriptions.all.filter(\.isSubscribed).count == 5_000)
    }

    @Test func `The time limit of an authorization starts when it is requested, not when it is queued`() {
        var (transcript, asked) = connected(channels: 2, limit: 1)
        transcript.pass(.seconds(14))
        #expect(transcript.authorize(asked.removeFirst()).authorizations.map(\.channel) == ["private-1"])
        #expect(transcript.pass(.seconds(14)).errors.isEmpty)
        #expect(transcript.machine.subscriptions["private-1"]?.failures == 0)
        transcript.pass(.seconds(1))
        #expect(transcript.machine.subscriptions["private-1"]?.failures == 1)
    }

    @Test func `An unsubscribed channel gives up its turn or its place in the authorization queue`() {
        var (transcript, _) = connected(channels: 3, limit: 1)
        #expect(transcript.unsubscribe("private-1").authorizations.isEmpty)
        #expect(transcript.unsubscribe("private-0").authorizations.map(\.channel) == ["private-2"])
    }

    @Test(arguments: [1, 0])
    func `An authorization that times out makes room for the next one in the queue, and a limit of zero is one`(limit: Int) {
        var (transcript, asked) = connected(channels: 2, limit: limit)
        #expect(asked.count == 1)
        #expect(transcript.pass(.seconds(15)).authorizations.map(\.channel) == ["private-1"])
    }

    @Test func `A lost connection empties the authorization queue, and the next one refills it in order`() {
        var (transcript, _) = connected(channels: 3, limit: 2)
        transcript.close(1006)
        #expect(!transcript.machine.authorizations.isWaiting, "nothing is kept of what nobody wants")
        transcript.passToDeadline()
        #expect(transcript.establish().authorizations.map(\.channel) == ["private-0", "private-1"])
    }
}
