import Testing

@testable import PusherChannels

/// Sign-in retries after the user's authorization failed.
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
    @Test func anAuthorizationThatMayBeGivenNextTimeIsAskedForAgain() throws {
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

    /// The upper bounds of the delays are 1 s, 2 s, 4 s and so on; each delay is a random one below its bound.
    // Proves P9.9.
    @Test func delaysGrowToAMinute() throws {
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
    @Test func oneThatDoesNotComeInTimeIsAskedForAgain() {
        var transcript = Transcript.connected()
        transcript.play(.signIn)
        transcript.pass(.seconds(15))
        #expect(asked(transcript.pass(.seconds(1)))?.number == 2)
    }

    // Proves P9.9.
    @Test func oneThatIsRefusedIsNot() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), isRetryable: false, &transcript)
        #expect(asked(transcript.pass(.seconds(100))) == nil)
    }

    // Proves P9.9.
    @Test func aServerThatSaysNothingIsNotAskedAgain() throws {
        var transcript = Transcript.connected()
        transcript.play(.userAuthorized(try #require(asked(transcript.play(.signIn))), .success(auth)))
        transcript.pass(.seconds(30))
        #expect(asked(transcript.pass(.seconds(80))) == nil)
    }

    // Proves P9.9.
    @Test func whoWantsToBeLeftAloneIs() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), retryAfter: .seconds(20), &transcript)
        #expect(transcript.machine.user.state == .retrying(at: transcript.now + .seconds(20)))
        #expect(asked(transcript.pass(.seconds(10))) == nil)
        transcript.close(4200)
        #expect(asked(transcript.establish()) == nil, "by the next connection, too")
        #expect(asked(transcript.pass(.seconds(9))) == nil)
        #expect(asked(transcript.pass(.seconds(1))) != nil)
    }

    @Test func whoAsksMeanwhileIsNotMadeToWait() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), retryAfter: .seconds(20), &transcript)
        #expect(asked(transcript.play(.signIn))?.number == 2)
    }

    @Test func norIsWhoAsksBeforeTheNextConnection() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), retryAfter: .seconds(20), &transcript)
        transcript.close(4200)
        transcript.play(.signIn)
        #expect(asked(transcript.establish()) != nil)
    }

    @Test func aSuccessThatComesLateCountsMeanwhile() throws {
        var transcript = Transcript.connected()
        transcript.play(.userAuthorized(try #require(asked(transcript.play(.signIn))), .success(auth)))
        transcript.pass(.seconds(30))
        try fail(after: transcript.play(.signIn), &transcript)
        transcript.receive(success)
        #expect(transcript.machine.user.id == "ann")
        #expect(asked(transcript.pass(.seconds(60))) == nil)
    }

    @Test func nothingIsTriedWithoutAConnection() throws {
        var transcript = Transcript.connected()
        try fail(after: transcript.play(.signIn), &transcript)
        transcript.play(.disconnect)
        transcript.close(1000)
        #expect(transcript.machine.nextDeadline == nil)
        transcript.play(.connect)
        #expect(asked(transcript.establish()) != nil, "the wish remains")
    }
}
