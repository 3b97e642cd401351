import TestSupport
import Testing

@testable import PusherChannels

/// Some servers count only the client's messages as activity, so they close a connection even while they send on it.
@Suite struct LivenessTests {
    private let event = #"{"event":"tick","channel":"room","data":"1"}"#
    private let pong = #"{"event":"pusher:pong"}"#
    private let ping: [Output] = [.send(.ping)]

    // Proves P4.1, P4.3.
    @Test(arguments: [(30, false, 22_500), (300, false, 90_000), (30, true, 22_500), (120, true, 30_000)])
    func `The shorter activity time-out or half a minute decides when to ping`(timeout: Int, isDefault: Bool, milliseconds: Int) {
        var transcript = Transcript.connected(activityTimeout: timeout) {
            if isDefault { $0 = ConnectionMachine.Configuration() }
        }
        #expect(transcript.pass(.milliseconds(milliseconds - 1)).isEmpty)
        #expect(transcript.pass(.milliseconds(1)) == ping)
    }

    // Proves P4.3.
    @Test func `A client that only receives sends a ping after three quarters of the activity time-out`() {
        var transcript = Transcript.connected(activityTimeout: 40)
        var sent: [Instant] = []
        for _ in 0..<400 {
            if transcript.pass(.seconds(1)).sent == [.ping] { sent.append(transcript.now) }
            transcript.receive(event)
        }
        #expect(sent == (1...13).map { .seconds($0 * 30) })
        #expect(transcript.machine.state == .connected)
    }

    // Proves P4.3.
    @Test func `Whatever the client sends postpones its next ping`() {
        let typing = ClientEvent(name: "client-a", channel: "private-room", data: "1")
        let says: [(inout Transcript) -> Void] = [
            { $0.receive(#"{"event":"pusher:ping"}"#) },
            { _ = ($0.subscribe("other"), $0.succeed("other")) },
            { $0.unsubscribe("private-room") },
            { $0.play(.trigger(typing)) },
            { transcript in #expect(transcript.trigger(typing) == .sent) },
            { _ = ($0.play(.networkChanged), $0.receive(pong)) },
        ]
        for (number, say) in says.enumerated() {
            var transcript = Transcript.subscribed(to: "private-room", auth: .signed)
            transcript.pass(.seconds(80))
            transcript.receive(event)
            say(&transcript)
            #expect(transcript.pass(.seconds(89)).sent.isEmpty, "\(number)")
            #expect(transcript.pass(.seconds(1)).sent == [.ping], "\(number)")
        }
    }

    // Proves P4.2, P4.3.
    @Test(arguments: [PusherProtocol.pusher, .sockudo])
    func `Any frame, even a malformed one or a control frame, postpones the next ping`(spoken: PusherProtocol) {
        var transcript = Transcript.connected { $0.protocol = spoken }
        // So that only silence can be the reason for a ping.
        func speak() { _ = (transcript.subscribe("room"), transcript.unsubscribe("room")) }
        let attempt = transcript.attempt
        for input in [Transcript.input(pong, attempt), .receivedControlFrame(attempt), Transcript.input("not JSON", attempt)] {
            transcript.pass(.seconds(60))
            speak()
            #expect(transcript.pass(.seconds(59)).isEmpty)
            transcript.play(input)
            speak()
        }
        transcript.pass(.seconds(60))
        speak()
        #expect(transcript.pass(.seconds(59)).isEmpty)
        #expect(transcript.pass(.seconds(1)) == ping)
    }

    // Proves P4.2.
    @Test func `Any frame that follows a ping counts as its pong`() {
        let attempt = ConnectionAttempt(1)
        for input in [
            .receivedControlFrame(attempt), .receivedMalformed(.binary, attempt), Transcript.input(pong, attempt),
            Transcript.input(#"{"event":"news","channel":"nobodys"}"#, attempt),
        ] as [Input] {
            var transcript = Transcript.connected()
            #expect(transcript.pass(.seconds(90)) == ping)
            transcript.pass(.seconds(29))
            transcript.play(input)
            #expect(transcript.pass(.seconds(60)).isEmpty)
            #expect(transcript.machine.state == .connected)
        }
    }

    @Test func `A message answers a ping even if it arrives at the same time as one before the ping`() {
        var transcript = Transcript.connected()
        transcript.receive(event)
        #expect(transcript.play(.networkChanged).sent == [.ping])
        transcript.receive(event)
        transcript.pass(.seconds(60))
        #expect(transcript.machine.state == .connected, "the second message answered the ping")
    }

    // Proves P4.3, P4.4.
    @Test func `The connection is closed with 4201 and made again at once if no pong comes in time`() {
        var transcript = Transcript.connected()
        #expect(transcript.pass(.seconds(90)) == ping)
        let outputs = transcript.pass(.seconds(30))
        #expect(outputs.contains(.close(1, code: 4201, reason: "pong not received")))
        #expect(outputs.errors.map(\.kind) == [.timedOut])
        #expect(outputs.reasons.first??.kind == .timedOut)
        #expect(outputs.opened == [ConnectionAttempt(2)])
    }

    // Proves P4.5.
    @Test func `A ping of the server is answered with a pong`() {
        var transcript = Transcript.connected()
        #expect(transcript.receive(#"{"event":"pusher:ping","data":{}}"#) == [.send(.pong)])
    }

    /// Each of the losses comes after this many seconds; nil is an ordinary close.
    @Test(
        arguments: [
            ([61, 61, 60], true), ([61, 61], false), ([61, 20, 61], false), ([2, 2, 2], false),
            ([61, nil, 61, nil, 61, nil], false),
        ] as [([Int?], Bool)])
    func `Three losses in a row after the same silence are told with a hint at a proxy`(silences: [Int?], isTold: Bool) {
        var transcript = Transcript()
        transcript.play(.connect)
        var told: [String] = []
        for silence in silences {
            transcript.establish()
            transcript.pass(.seconds(silence ?? 61))
            told += (silence == nil ? transcript.close(1001) : transcript.fail()).errors.map(\.message)
            transcript.passToDeadline()
        }
        #expect(told.contains { $0.contains("three times running: is it the idle time-out of a proxy?") } == isTold)
        #expect(!told.isEmpty)
    }
}

@Suite struct NetworkChangeTests {
    // Proves P4.8, P5.12.
    @Test func `A network change starts a waiting reconnect attempt at once`() {
        var transcript = Transcript.connected { $0.reconnectPolicy.initialDelay = .seconds(60) }
        transcript.close(1006)
        #expect(transcript.machine.nextAttempt != nil)
        #expect(transcript.play(.networkChanged).contains(.open(2)))
        #expect(transcript.machine.nextAttempt == nil)
    }

    // Proves P4.8.
    @Test func `After a network change, a dead connection is noticed within the pong time-out`() {
        var transcript = Transcript.connected()
        transcript.pass(.seconds(5))
        #expect(transcript.play(.networkChanged) == [.send(.ping)])
        #expect(transcript.play(.networkChanged) == [], "one question is enough")
        #expect(transcript.pass(.seconds(29)).isEmpty)
        #expect(transcript.pass(.seconds(1)).stateChanges == [.connecting])
    }

    // Proves P4.8.
    @Test func `A network change while reading is paused sends its ping when reading goes on`() {
        var transcript = Transcript.connected()
        transcript.play(.readersChanged(areOver: true))
        #expect(transcript.play(.networkChanged) == [])
        #expect(transcript.play(.readersChanged(areOver: false)) == [.setReading(true), .send(.ping)])
        #expect(transcript.pass(.seconds(30)).stateChanges == [.connecting])
    }

    @Test func `A network change while disconnected, connecting, or disconnecting does nothing`() {
        var transcript = Transcript()
        #expect(transcript.play(.networkChanged) == [])
        for input in [.connect, .disconnect] as [Input] {
            transcript.play(input)
            #expect(transcript.play(.networkChanged) == [])
        }
    }
}
