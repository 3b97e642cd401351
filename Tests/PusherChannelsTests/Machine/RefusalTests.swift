import Testing

@testable import PusherChannels

/// The channel that an error refers to if it isn't a `subscription_error`.
@Suite struct RefusalTests {
    private func subscribing(_ channels: Name...) -> Transcript {
        var transcript = Transcript.connected()
        for channel in channels { transcript.subscribe(channel, auth: .signed) }
        return transcript
    }

    private func failures(_ outputs: [Output]) -> [String] {
        outputs.deliveries.compactMap {
            if case .subscriptionFailed(let channel, let failure) = $0 { "\(channel): \(failure.error)" } else { nil }
        }
    }

    // Proves P14.13.
    @Test(arguments: [
        "Auth value for subscription to private-x is invalid",
        "Invalid signature: Expected HMAC SHA256 hex digest of 1.2:private-x, but got 00",
        "digest of 1.2:private-x:{}, but got 00",
        "no: 'private-x'", "private-x", "private-x: refused", "(private-x)",
    ])
    func `An error whose message names a private channel being subscribed is its refusal, unless it succeeds`(words: String) {
        var transcript = subscribing("private-x", "private-x-y", "private-z")
        #expect(failures(transcript.receiveError(words)) == ["private-x: \(words)"])
        #expect(transcript.machine.subscriptions["private-x"]?.state == .failed)
        #expect(transcript.machine.subscriptions["private-z"]?.isSubscribing == true)
        #expect(transcript.succeed("private-x").deliveries.contains(.subscribed(channel: "private-x")), "after all")
    }

    // Proves P14.13.
    @Test(arguments: [("private-x", 4009), ("private-x", nil), ("room", 4300)] as [(Name, Int?)])
    func `An error sent with a channel's name is that channel's refusal`(channel: Name, code: Int?) {
        var transcript = subscribing("private-x", "private-y", "room")
        let said = code.map { "\(channel): no (code \($0))" } ?? "\(channel): no"
        #expect(failures(transcript.receiveError(code: code, channel: channel)) == [said])
    }

    // Proves P14.10.
    @Test(arguments: ["private-x", "room"], [nil, 4000, 4009, 4300])
    func `An error that names no channel refuses the only subscription under way`(channel: Name, code: Int?) {
        var transcript = subscribing(channel)
        let said = code.map { "\(channel): no (code \($0))" } ?? "\(channel): no"
        #expect(failures(transcript.receiveError(code: code)) == [said])
        #expect(transcript.succeed(channel).deliveries.contains(.subscribed(channel: channel)), "it was about something else")
        #expect(failures(transcript.receiveError(code: code)).isEmpty, "none is under way")
    }

    // Proves P14.10.
    @Test(arguments: [nil, 4000, 4300])
    func `With several subscriptions under way, their time-outs quote an error that names no channel`(code: Int?) {
        var transcript = subscribing("private-x", "room", "other")
        #expect(failures(transcript.receiveError("no way", code: code)).isEmpty)
        transcript.succeed("other")
        let timeOuts = failures(transcript.pass(.seconds(30)))
        #expect(timeOuts.count == 2)
        #expect(timeOuts.allSatisfy { $0.hasSuffix(#"within 30.0 seconds; meanwhile it said: "no way""#) }, "\(timeOuts)")
        transcript.subscribe("later")
        #expect(failures(transcript.pass(.seconds(30))).allSatisfy { !$0.contains("no way") }, "it was about others")
    }

    // Proves P14.13.
    @Test func `An error that names a channel not awaiting an answer, or none, refuses no channel`() {
        var transcript = subscribing("private-x", "invalid", "private-y")
        transcript.succeed("private-y")
        for words in [
            "private-other is invalid", "private-y is invalid", "private-x-y is invalid", "xprivate-x is invalid",
            "", ":", "::::::::::::::::", "....", String(repeating: "a:", count: 9000), String(repeating: "é", count: 9000),
        ] {
            #expect(failures(transcript.receiveError(words)).isEmpty, "\(words.prefix(30))")
        }
        #expect(failures(transcript.receiveError(channel: "private-y")).isEmpty)
        #expect(failures(transcript.receiveError(code: 4009, channel: "private-y")).isEmpty, "x is another")
    }

    // Proves P14.13.
    @Test(
        arguments: [
            ("Client event rejected - not subscribed to channel private-x", 4301), ("Too long, private-x", 4302),
            ("Existing subscription to channel private-x", nil), ("Connection is already signed in", nil),
            ("No current subscription to channel private-x", nil),
        ] as [(String, Int?)])
    func `An error about client events, the sign-in, or an existing subscription is no refusal`(words: String, code: Int?) {
        var transcript = subscribing("private-x")
        #expect(failures(transcript.receiveError(words, code: code)).isEmpty)
        #expect(failures(transcript.receiveError(words, code: code, channel: "private-x")).isEmpty)
        #expect(transcript.machine.subscriptions["private-x"]?.isSubscribing == true)
    }

    // Proves P9.4, P14.13.
    @Test func `An error that names a channel doesn't end the sign-in under way`() throws {
        var transcript = subscribing("private-x")
        try transcript.authorizeUser(transcript.play(.signIn))
        #expect(failures(transcript.receiveError("private-x is invalid")) == ["private-x: private-x is invalid"])
        // An error that names a channel that is no longer awaited isn't about the user, either.
        transcript.receiveError("No current subscription to channel private-x")
        transcript.receiveError(channel: "private-x")
        guard case .signingIn = transcript.machine.user.state else { return #expect(Bool(false), "still signing in") }
    }

    // MARK: Several refusals that name no channel

    private let last = "private-c: Connection is unauthorized (code 4009)"

    private func unnamed(_ transcript: inout Transcript) -> [String] {
        failures(transcript.receiveError("Connection is unauthorized", code: 4009))
    }

    // Proves P14.10.
    @Test func `When unnamed refusals are as many as the authorized channels under way, all are refused`() {
        var transcript = subscribing("private-a", "private-b", "private-c", "room")
        let refused = (1...3).map { _ in unnamed(&transcript) }
        #expect(refused == [[], [], ["a", "b", "c"].map { "private-\($0): Connection is unauthorized (code 4009)" }])
        #expect(transcript.pass(.seconds(29)).isEmpty, "nobody waits for a time-out, nobody asks again")
    }

    /// Refusals, successes and new subscriptions come in any order; the result is compared with a full count after each.
    // Proves P14.10.
    @Test(arguments: UInt64(1)...50)
    func `After any order of answers, unnamed refusals stay fewer than the channels they may mean`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var transcript = Transcript.connected()
        var (made, refusals) = (0, 0)
        for _ in 0..<60 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                made += 1
                transcript.subscribe("private-\(made)", auth: .signed)
            case 1:
                guard let awaited = transcript.machine.subscriptions.all.first(where: \.awaitsVerdict) else { continue }
                transcript.succeed(awaited.channel)
            default:
                _ = unnamed(&transcript)
                refusals += 1
            }
            let awaited = transcript.machine.subscriptions.all.filter(\.awaitsVerdict).count
            let known = transcript.machine.subscriptions.unnamedRefusals.count
            #expect(known == 0 || known < awaited, "\(known) refusals of \(awaited) are told")
        }
        #expect(refusals > 0)
    }

    // Proves P14.10.
    @Test func `When all other channels succeed or are refused by name, an unnamed refusal is the remaining one's`() {
        var transcript = subscribing("private-a", "private-b", "private-c")
        _ = unnamed(&transcript)
        #expect(failures(transcript.succeed("private-b")).isEmpty)
        var refused = transcript
        #expect(failures(transcript.succeed("private-a")) == [last])
        #expect(failures(refused.receiveError("private-a is invalid")) == ["private-a: private-a is invalid", last])
    }

    // Proves P14.10.
    @Test func `An unnamed refusal isn't attributed if a channel that it may have meant was unsubscribed`() {
        var transcript = subscribing("private-a", "private-b")
        _ = unnamed(&transcript)
        transcript.unsubscribe("private-a")
        transcript.subscribe("private-c", auth: .signed)
        #expect(failures(transcript.succeed("private-b")).isEmpty)
        #expect(transcript.succeed("private-c").deliveries.contains(.subscribed(channel: "private-c")))
        transcript.subscribe("private-d", auth: .signed)
        #expect(unnamed(&transcript) == ["private-d: Connection is unauthorized (code 4009)"], "private-a had its answer")
    }

    // Proves P14.10.
    @Test func `An unnamed refusal is that of the request that was undone, not of the only other subscription`() {
        var transcript = subscribing("private-a")
        transcript.unsubscribe("private-a")
        transcript.subscribe("b")
        #expect(unnamed(&transcript).isEmpty)
        #expect(transcript.succeed("b").deliveries.contains(.subscribed(channel: "b")))
        transcript.subscribe("private-c", auth: .signed)
        #expect(unnamed(&transcript) == ["private-c: Connection is unauthorized (code 4009)"], "the first one was answered")
    }

    // Proves P14.10.
    @Test func `An unnamed refusal answers an undone request, also if nothing else or much else awaits an answer`() throws {
        for others in [[], ["private-b", "private-c"]] as [[Name]] {
            var transcript = subscribing("private-a", "private-d")
            transcript.unsubscribe("private-d")
            transcript.unsubscribe("private-a")
            for other in others { transcript.subscribe(other, auth: .signed) }
            for _ in 0..<2 { #expect(unnamed(&transcript).isEmpty) }
            for channel: Name in ["private-a", "private-d"] {
                transcript.subscribe(channel, auth: .signed)
                #expect(transcript.succeed(channel).deliveries.contains(.subscribed(channel: channel)), "\(others)")
            }
        }
    }

    // Proves P14.10, P14.13.
    @Test func `A refusal that names an undone request's channel is no other's`() {
        var transcript = subscribing("private-a")
        transcript.unsubscribe("private-a")
        transcript.subscribe("private-b", auth: .signed)
        #expect(failures(transcript.receiveError("Auth value for subscription to private-a is invalid")).isEmpty)
        #expect(unnamed(&transcript) == ["private-b: Connection is unauthorized (code 4009)"])
    }

    // Proves P14.10.
    @Test func `Unnamed refusals of an earlier connection don't count on the next one`() {
        var transcript = subscribing("private-a", "private-b")
        _ = unnamed(&transcript)
        for attempt in transcript.restart().authorizations { transcript.authorize(attempt) }
        #expect(unnamed(&transcript).isEmpty)
        #expect(transcript.machine.subscriptions.unnamedRefusals.count == 1)
    }
}
