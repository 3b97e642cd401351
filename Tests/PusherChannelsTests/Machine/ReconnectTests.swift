import TestSupport
import Testing

@testable import PusherChannels

@Suite struct ReconnectTests {
    private func fail(_ transcript: inout Transcript) {
        transcript.play(.socketClosed(.failed(TransportError(.connectionRefused, "refused")), transcript.attempt))
    }

    /// Connects, fails the given number of times, and retries after each failure.
    private func connect(_ transcript: inout Transcript, failing failures: Int) {
        transcript.play(.connect)
        for _ in 0..<failures {
            fail(&transcript)
            transcript.passToDeadline()
        }
    }

    private func delay(_ transcript: Transcript) -> Duration? {
        guard case .waiting(let until) = transcript.machine.session.phase else { return nil }
        return until - transcript.now
    }

    // Proves P5.10, W7.11.
    @Test func `Reconnect delays double with each failure, up to two minutes`() throws {
        var longest: [Duration] = Array(repeating: .zero, count: 12)
        for seed in 0..<200 as Range<UInt64> {
            var transcript = Transcript(seed: seed)
            transcript.play(.connect)
            for attempt in 0..<12 {
                fail(&transcript)
                longest[attempt] = max(longest[attempt], try #require(delay(transcript)))
                transcript.passToDeadline()
            }
        }
        for (attempt, longest) in longest.enumerated() {
            let bound = min(Duration.seconds(1 << attempt), .seconds(120))
            #expect(longest <= bound && longest > bound * 0.9, "attempt \(attempt): \(longest) of \(bound)")
        }
    }

    // Proves P5.10, W7.11.
    @Test func `Reconnect delays differ between seeds and are the same for the same seed`() throws {
        func delays(_ seed: UInt64) -> [Duration?] {
            var transcript = Transcript(seed: seed)
            transcript.play(.connect)
            return (0..<5).map { _ in
                fail(&transcript)
                defer { transcript.passToDeadline() }
                return delay(transcript)
            }
        }
        #expect(delays(1) == delays(1))
        #expect(delays(1) != delays(2))
    }

    // Proves P5.10.
    @Test func `A connection that lasted 30 seconds makes the next reconnect delay short again`() throws {
        var transcript = Transcript()
        connect(&transcript, failing: 10)
        transcript.establish()
        transcript.pass(.seconds(30))
        transcript.close(1006)
        #expect(try #require(delay(transcript)) <= .seconds(1))
    }

    @Test func `Disconnecting and connecting again forgets earlier failures`() {
        var transcript = Transcript()
        connect(&transcript, failing: 4)
        fail(&transcript)
        transcript.play(.disconnect)
        transcript.play(.connect)
        #expect(transcript.machine.session.backoff.failures == 0)
    }

    // Proves P5.10.
    @Test(arguments: [(Duration.zero, 5), (.milliseconds(29_999), 5), (.seconds(30), 1), (.milliseconds(30_001), 1)])
    func `A connection resets the count of failures if it lasted 30 seconds, and not before`(lifetime: Duration, failures: Int) {
        var transcript = Transcript()
        connect(&transcript, failing: 4)
        transcript.establish()
        transcript.pass(lifetime)
        transcript.close(1006)
        #expect(transcript.machine.session.backoff.failures == failures)
    }

    // Proves P5.6, P5.11.
    @Test(arguments: [(2, "2 retries"), (1, "1 retry")])
    func `A client gives up after the maximum number of retries and can be connected again`(maximum: Int, words: String) {
        var transcript = Transcript { $0.reconnectPolicy.maximumRetries = maximum }
        connect(&transcript, failing: maximum)
        let outputs = transcript.play(.socketClosed(.failed(TransportError(.noAnswer, "no word")), transcript.attempt))
        #expect(outputs.errors.map(\.kind) == [.transport(.noAnswer), .attemptsExhausted])
        #expect(outputs.errors.last?.message == "gave up after \(words): no word; call connect() to try again")
        #expect(outputs.errors.last?.isRetryable == true)
        #expect(transcript.machine.state == .disconnected)
        #expect(transcript.play(.connect).opened.count == 1, "the user can start again")
    }

    /// An untrusted certificate won't be any better at the next call.
    @Test func `Giving up because of an untrusted certificate is reported as not retryable`() {
        var transcript = Transcript { $0.reconnectPolicy.maximumRetries = 0 }
        transcript.play(.connect)
        let failure = TransportError(.tlsFailed(.untrustedAuthority), "nobody's certificate")
        let outputs = transcript.play(.socketClosed(.failed(failure), transcript.attempt))
        #expect(outputs.errors.last?.message == "gave up after 0 retries: nobody's certificate; call connect() to try again")
        #expect(outputs.errors.last?.isRetryable == false)
    }

    /// A retry can't help if this machine can't do something or the options make no sense.
    // Proves P5.6.
    @Test func `A failure that no retry can fix stops the client, which can be connected again`() {
        var transcript = Transcript()
        transcript.play(.connect)
        let failure = TransportError(.unsupported, "70000 is not a TCP port")
        let outputs = transcript.play(.socketClosed(.failed(failure), transcript.attempt))
        #expect(outputs.errors.map(\.kind) == [.transport(.unsupported)])
        #expect(transcript.machine.state == .disconnected && transcript.machine.nextAttempt == nil)
        #expect(transcript.play(.connect).opened.count == 1, "the user can start again")
    }

    /// This also applies if the client would reconnect immediately.
    // Proves P5.11.
    @Test func `With zero retries, a client gives up even if the server asks it to return at once`() {
        var transcript = Transcript.connected { $0.reconnectPolicy.maximumRetries = 0 }
        let outputs = transcript.close(4200)
        #expect(outputs.opened.isEmpty)
        #expect(outputs.errors.map(\.kind).last == .attemptsExhausted)
    }

    /// One hour with a server that is away for ten minutes of every twenty. The client is back soon after each return, and doesn't
    /// ping while the server talks.
    @Test func `During an hour of outages, a client returns within two minutes of each and sends no ping`() throws {
        let clock = ContinuousClock()
        let elapsed = clock.measure {
            var transcript = Transcript()
            var pings = 0
            transcript.play(.connect)
            transcript.play(.subscribe(channel: "news", auth: nil))
            for _ in 0..<3 {
                transcript.establish()
                for _ in 0..<10 {
                    let outputs = transcript.pass(.seconds(60))
                    pings += outputs.sent.filter { $0 == .ping }.count
                    transcript.receive(#"{"event":"pusher:pong"}"#)
                }
                #expect(transcript.machine.state == .connected)
                transcript.close(1001)
                let back = transcript.now + .seconds(600)
                while transcript.now < back {
                    transcript.passToDeadline()
                    fail(&transcript)
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
