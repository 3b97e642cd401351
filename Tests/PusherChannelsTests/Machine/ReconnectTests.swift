import TestSupport
import Testing

@testable import PusherChannels

@Suite struct ReconnectTests {
    /// Connects, fails the given number of times, and retries after each failure.
    private func connecting(
        failing failures: Int, seed: UInt64 = 1, _ change: (inout ConnectionMachine.Configuration) -> Void = { _ in }
    ) -> Transcript {
        var transcript = Transcript(change, seed: seed)
        transcript.play(.connect)
        for _ in 0..<failures {
            transcript.fail(.connectionRefused)
            transcript.passToDeadline()
        }
        return transcript
    }

    private func delay(_ transcript: Transcript) -> Duration? {
        guard case .waiting(let until) = transcript.machine.session.phase else { return nil }
        return until - transcript.now
    }

    private func delays(_ count: Int, seed: UInt64) -> [Duration] {
        var transcript = connecting(failing: 0, seed: seed)
        return (0..<count).compactMap { _ in
            transcript.fail(.connectionRefused)
            defer { transcript.passToDeadline() }
            return delay(transcript)
        }
    }

    // Proves P5.10, W7.11.
    @Test func `Reconnect delays double with each failure, up to two minutes`() {
        let all = (0..<200 as Range<UInt64>).map { delays(12, seed: $0) }
        #expect(all.allSatisfy { $0.count == 12 })
        for attempt in 0..<12 {
            let longest = all.map { $0[attempt] }.max() ?? .zero
            let bound = min(Duration.seconds(1 << attempt), .seconds(120))
            #expect(longest <= bound && longest > bound * 0.9, "attempt \(attempt): \(longest) of \(bound)")
        }
    }

    @Test func `Any number of failed attempts can be set, and the next delay is one of the longest`() throws {
        var transcript = connecting(failing: 1)
        transcript.play(.reconnectAttempts(.max))
        for _ in 0..<2 {
            transcript.fail(.connectionRefused)
            #expect(try #require(delay(transcript)) <= .seconds(120))
            transcript.passToDeadline()
        }
    }

    // Proves P5.10.
    @Test func `A connection that lasted 30 seconds makes the next reconnect delay short again`() throws {
        var transcript = connecting(failing: 10)
        transcript.establish()
        transcript.pass(.seconds(30))
        transcript.close(1006)
        #expect(try #require(delay(transcript)) <= .seconds(1))
    }

    // Proves P5.10.
    @Test(arguments: [(Duration.zero, 5), (.milliseconds(29_999), 5), (.seconds(30), 1), (.milliseconds(30_001), 1)])
    func `A connection resets the count of failures if it lasted 30 seconds, and not before`(lifetime: Duration, failures: Int) {
        var transcript = connecting(failing: 4)
        transcript.establish()
        transcript.pass(lifetime)
        transcript.close(1006)
        #expect(transcript.machine.session.backoff.failures == failures)
    }

    @Test func `Disconnecting and connecting again forgets earlier failures`() {
        var transcript = connecting(failing: 4)
        transcript.fail(.connectionRefused)
        transcript.play(.disconnect, .connect)
        #expect(transcript.machine.session.backoff.failures == 0)
    }

    // Proves P5.6, P5.11.
    @Test(arguments: [(2, "2 retries"), (1, "1 retry")])
    func `A client gives up after the maximum number of retries and can be connected again`(maximum: Int, words: String) {
        var transcript = connecting(failing: maximum) { $0.reconnectPolicy.maximumRetries = maximum }
        let outputs = transcript.fail(.noAnswer, "no word")
        #expect(outputs.errors.map(\.kind) == [.transport(.noAnswer), .attemptsExhausted])
        #expect(outputs.reasons.first??.kind == .attemptsExhausted)
        #expect(outputs.errors.last?.message == "gave up after \(words): no word; call connect() to try again")
        #expect(outputs.errors.last?.isRetryable == true)
        #expect(transcript.machine.state == .disconnected)
        #expect(transcript.play(.connect).opened.count == 1, "the user can start again")
    }

    /// An untrusted certificate won't be any better at the next call.
    @Test func `Giving up because of an untrusted certificate is reported as not retryable`() {
        var transcript = connecting(failing: 0) { $0.reconnectPolicy.maximumRetries = 0 }
        let error = transcript.fail(.tlsFailed(.untrustedAuthority), "nobody's certificate").errors.last
        #expect(error?.message == "gave up after 0 retries: nobody's certificate; call connect() to try again")
        #expect(error?.isRetryable == false)
    }

    /// A retry can't help if this machine can't do something or the options make no sense.
    // Proves P5.6.
    @Test func `A failure that no retry can fix stops the client, which can be connected again`() {
        var transcript = connecting(failing: 0)
        #expect(transcript.fail(.unsupported, "70000 is not a TCP port").errors.map(\.kind) == [.transport(.unsupported)])
        #expect(transcript.machine.state == .disconnected && transcript.machine.nextAttempt == nil)
        #expect(transcript.play(.connect).opened.count == 1, "the user can start again")
    }

    // Proves P5.11.
    @Test(arguments: [4200, 1006] as [UInt16])
    func `With zero retries, also set while connected, a client gives up even if the server asks it to return`(code: UInt16) {
        var transcript = Transcript.connected()
        transcript.play(.reconnectPolicy(ReconnectPolicy(initialDelay: .seconds(1), maximumRetries: 0)))
        let outputs = transcript.close(code)
        #expect(outputs.opened.isEmpty)
        #expect(outputs.errors.map(\.kind).last == .attemptsExhausted)
        #expect(outputs.stateChanges == [.disconnected])
    }

    /// One hour with a server that is away for ten minutes of every twenty. The client is back soon after each return, and doesn't
    /// ping while the server talks.
    @Test func `During an hour of outages, a client returns within two minutes of each and sends no ping`() {
        let elapsed = ContinuousClock().measure {
            var transcript = Transcript()
            var pings = 0
            transcript.play(.connect)
            transcript.subscribe("news")
            for _ in 0..<3 {
                transcript.establish()
                for _ in 0..<10 {
                    pings += transcript.pass(.seconds(60)).sent.count { $0 == .ping }
                    transcript.receive(#"{"event":"pusher:pong"}"#)
                }
                #expect(transcript.machine.state == .connected)
                transcript.close(1001)
                let back = transcript.now + .seconds(600)
                while transcript.now < back {
                    transcript.passToDeadline()
                    transcript.fail(.connectionRefused)
                }
                #expect(transcript.now - back <= .seconds(120), "a retry comes at least every two minutes")
                transcript.passToDeadline()
            }
            #expect(pings == 0, "a server that talks every minute needs no ping")
            #expect(transcript.now >= .seconds(3600))
        }
        #expect(elapsed < .seconds(1))
    }
}
