import Testing

@testable import PusherChannels

@Suite struct AuthorizationQueueTests {
    private func connected(channels: Int, limit: Int) -> (Transcript, [SubscriptionAttempt]) {
        var transcript = Transcript { $0.concurrentAuthorizations = limit }
        for number in 0..<channels { transcript.play(.subscribe(channel: "private-\(number)", auth: nil)) }
        transcript.play(.connect)
        let asked = transcript.establish().authorizations
        return (transcript, asked)
    }

    private func reply(_ transcript: inout Transcript, _ attempt: SubscriptionAttempt) -> [Output] {
        transcript.play(.authorized(attempt, .success(PusherAuth(auth: "k:s"))))
    }

    // Proves P14.11.
    @Test func `Authorizations of 5,000 channels are requested in order, a limited number at a time`() {
        var (transcript, asked) = connected(channels: 5_000, limit: 16)
        var order = asked.map(\.channel)
        #expect(asked.count == 16)
        while !asked.isEmpty {
            let next = reply(&transcript, asked.removeFirst()).authorizations
            asked += next
            order += next.map(\.channel)
            guard asked.count <= 16 else { return #expect(Bool(false), "\(asked.count) at a time") }
        }
        #expect(order == (0..<5_000).map { "private-\($0)" })
        for number in 0..<5_000 { transcript.succeed("private-\(number)") }
        let subscribed = transcript.machine.subscriptions.all.count { $0.isSubscribed }
        #expect(subscribed == 5_000)
    }

    @Test func `The time limit of an authorization starts when it is requested, not when it is queued`() {
        var (transcript, asked) = connected(channels: 2, limit: 1)
        transcript.pass(.seconds(14))
        let second = reply(&transcript, asked.removeFirst()).authorizations
        #expect(second.map(\.channel) == ["private-1"])
        #expect(transcript.pass(.seconds(14)).errors.isEmpty)
        #expect(transcript.machine.subscriptions["private-1"]?.failures == 0)
        transcript.pass(.seconds(1))
        #expect(transcript.machine.subscriptions["private-1"]?.failures == 1)
    }

    @Test func `An unsubscribed channel gives up its turn or its place in the authorization queue`() {
        var (transcript, _) = connected(channels: 3, limit: 1)
        #expect(transcript.play(.unsubscribe(channel: "private-1")).authorizations.isEmpty)
        #expect(transcript.play(.unsubscribe(channel: "private-0")).authorizations.map(\.channel) == ["private-2"])
    }

    @Test(arguments: [1, 0])
    func `An authorization that times out makes room for the next one in the queue, and a limit of zero counts as one`(
        limit: Int
    ) {
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
