import Testing

@testable import PusherChannels

/// Every row of the protocol's close-code table, as a transcript in which the server closes an established connection.
@Suite struct CloseCodeTests {
    enum Outcome: Equatable {
        case stops
        case returnsAtOnce
        case waits(atLeast: Duration)
    }

    private func outcome(_ transcript: Transcript, _ outputs: [Output]) -> Outcome? {
        switch transcript.machine.session.phase {
        case .idle: .stops
        case .opening where outputs.opened == [ConnectionAttempt(2)]: .returnsAtOnce
        case .waiting(let until): .waits(atLeast: until - transcript.now >= .seconds(1) ? .seconds(1) : .zero)
        default: nil
        }
    }

    // Proves P5.1, P5.3, P5.4, P5.5.
    @Test(
        arguments: [
            (.stops, true, [4001, 4003, 4004, 4005, 4006, 4007, 4008, 4009, 4002, 4010, 4099]),
            (.waits(atLeast: .seconds(1)), false, [4100, 4101, 4199]),
            (.returnsAtOnce, false, [4200, 4201, 4202, 4299]),
            (.waits(atLeast: .zero), true, [4300, 4301, 4302, 4303, 4999, 1002, 1003, 1007, 1008, 1009, 1010, 1015, 3000]),
            (.waits(atLeast: .zero), false, [1000, 1001, 1005, 1006, 1011, 1012, 1013, 1014]),
        ] as [(Outcome, Bool, [UInt16])])
    func `A close's code decides what the client does, and if it is told`(expected: Outcome, isReported: Bool, codes: [UInt16]) {
        for code in codes {
            // The initial delay of a retry is zero, so any wait is due to the code.
            var transcript = Transcript.connected { $0.reconnectPolicy.initialDelay = .zero }
            let outputs = transcript.close(code, "why")
            #expect(outcome(transcript, outputs) == expected, "\(code)")
            #expect(outputs.errors.map(\.code) == (isReported ? [Int(code)] : []))
            #expect(outputs.reasons.first??.kind == .server && outputs.reasons.first??.code == Int(code))
            for error in outputs.errors {
                #expect(error.kind == .server && error.message.hasPrefix("the server closed the connection: why"))
            }
        }
    }

    @Test(arguments: [4001, 4003, 4004, 4005, 4007])
    func `A close or an error with a known refusal code is reported with advice on what to do`(code: Int) throws {
        let advice = try #require(CloseCode(UInt16(code)).advice)
        var closed = Transcript.connected()
        let said = closed.close(UInt16(code), "why").errors.map(\.message)
        #expect(said == ["the server closed the connection: why; \(advice)"])
        var refused = Transcript.opened()
        #expect(refused.receiveError("why", code: code).errors.map(\.message) == ["why; \(advice)"])
    }

    // Proves P5.3.
    @Test func `The clients of a server that closes with 4100 to 4199 don't all return at the same moment`() {
        let delays = (1...10 as ClosedRange<UInt64>).compactMap { seed -> Duration? in
            var backoff = Backoff(policy: ReconnectPolicy(), seed: seed)
            return backoff.nextDelay(atLeast: .seconds(1))
        }
        #expect(Set(delays).count == 10)
    }

    // Proves P5.2.
    @Test(arguments: [true, false])
    func `A close with 4000 makes the client reconnect with TLS, once, if the options allow it, else it stops`(isAllowed: Bool) {
        var transcript = Transcript.connected { ($0.secure, $0.upgradesToTLS) = (false, isAllowed) }
        if isAllowed {
            #expect(transcript.close(4000).contains(.open(2, secure: true)))
            transcript.establish()
        }
        #expect(transcript.close(4000).errors.map(\.code) == [4000])
        #expect(transcript.machine.state == .disconnected)
    }

    // Proves P5.4.
    @Test func `The client follows at most three of a server's requests a minute to reconnect at once`() {
        var transcript = Transcript.connected()
        for _ in 1...3 {
            #expect(transcript.close(4200).opened.count == 1)
            transcript.establish()
        }
        #expect(transcript.close(4200).opened.isEmpty)
        #expect(transcript.machine.state == .reconnecting)

        transcript.pass(.seconds(60))
        transcript.establish()
        #expect(transcript.close(4200).opened.count == 1)
    }

    // MARK: Losses after the upgrade

    /// Plays attempts that lead to an upgrade and are then lost; returns their errors.
    private func lostAttempts(_ transcript: inout Transcript, _ count: Int, hearing inputs: [Input] = []) -> [PusherError] {
        (1...count).flatMap { _ -> [PusherError] in
            transcript.play(.connect)
            transcript.play(.socketOpened(transcript.attempt))
            for input in inputs { transcript.play(input) }
            return transcript.fail().errors
        }
    }

    // Proves P5.13.
    @Test(arguments: [PusherProtocol.pusher, .sockudo])
    func `Two losses in a row right after the upgrade are reported with advice to check the key`(spoken: PusherProtocol) {
        var transcript = Transcript { $0.protocol = spoken }
        let errors = lostAttempts(&transcript, 3)
        #expect(errors.map(\.advisesToCheckTheKey) == [false, true, true])
        #expect(errors.last?.message.hasPrefix("lost, as was the one before") == true)
        #expect(errors.allSatisfy { $0.kind == .transport(.connectionLost) && $0.isRetryable })
        #expect(transcript.machine.state == .reconnecting)
    }

    // Proves P5.13.
    @Test func `Any frame received after the upgrade rules out the advice to check the key`() {
        for attempt in [1, 2].map(ConnectionAttempt.init) {
            for input in [
                Input.receivedControlFrame(attempt), Transcript.input("x", attempt), Transcript.input(#"{"event":"e"}"#, attempt),
            ] {
                var transcript = Transcript()
                #expect(lostAttempts(&transcript, 2, hearing: [input]).map(\.advisesToCheckTheKey) == [false, false])
            }
        }
    }

    // Proves P5.13.
    @Test func `Losses right after the upgrade aren't in a row if an attempt between them ends otherwise`() {
        let second = ConnectionAttempt(2)
        for inputs in [
            [.socketOpened(second), .disconnect, .socketClosed(.closed(code: 1000, reason: ""), second)],
            [.socketOpened(second), .socketClosed(.closed(code: 1001, reason: ""), second)],
            [.socketClosed(.failed(TransportError(.connectionRefused, "no")), second)],
        ] as [[Input]] {
            var transcript = Transcript()
            #expect(lostAttempts(&transcript, 1).map(\.advisesToCheckTheKey) == [false])
            for input in [Input.connect] + inputs { transcript.play(input) }
            #expect(lostAttempts(&transcript, 1).map(\.advisesToCheckTheKey) == [false])
        }
    }

    // MARK: Errors

    // Proves P5.7.
    @Test(arguments: [4000, 4001, 4009, 4100, 4200, 4301])
    func `A server's error on an established connection is reported but never ends the connection`(code: Int) {
        var transcript = Transcript.connected()
        let outputs = transcript.receiveError("m", code: code)
        #expect(transcript.machine.state == .connected)
        #expect(outputs.opened.isEmpty)
        #expect(outputs.events == ["pusher:error"])
        #expect(outputs.errors == [PusherError(.server, code: code, message: "m")])
    }

    // Proves P5.8.
    @Test(arguments: [(4001, ConnectionState.disconnected), (4000, .disconnected), (4099, .disconnected), (4100, .connecting)])
    func `An error with 4000 to 4099 before establishment ends the attempt and is told once`(code: Int, state: ConnectionState) {
        var transcript = Transcript.opened()
        let outputs = transcript.receive(
            #"{"event":"pusher:error","data":"{\"message\":\"no such app\",\"code\":\#(code)}"}"#)
        #expect(transcript.machine.state == state)
        #expect(outputs.contains(.close(1)) == (state == .disconnected))
        #expect(outputs.errors.map(\.code) == [code], "it is reported once")
        #expect(transcript.close(UInt16(code)).errors.isEmpty)
    }

    /// soketi closes so what has neither signed in nor subscribed to a channel that needs authorization after half a minute.
    // Proves P5.1.
    @Test(arguments: [true, false])
    func `A close for not signing in in time is reported with advice to sign in`(isSaidBefore: Bool) {
        var transcript = Transcript.connected()
        let words = "Connection not authorized within timeout."
        if isSaidBefore { transcript.receiveError(words, code: 4009) }
        transcript.close(4009, words)
        #expect(transcript.machine.state == .disconnected)
        #expect(transcript.machine.session.lastError?.message.contains("; the app wants its clients to sign in, or") == true)
    }

    // Proves P5.1, P5.9.
    @Test(arguments: [false, true])
    func `A close right after an error with its code isn't reported again, but one long after it is`(isLongAfter: Bool) {
        var transcript = Transcript.connected()
        #expect(transcript.receiveError("terminated", code: 4009).errors.count == 1)
        if isLongAfter {
            transcript.pass(.seconds(60))
            transcript.receive(#"{"event":"pusher:ping"}"#)
        }
        #expect(transcript.close(4009, "terminated").errors.map(\.code) == (isLongAfter ? [4009] : []))
    }

    // Proves P5.7, P5.8.
    @Test func `An earlier error explains neither a plain close nor one that another message preceded, even at the same time`() {
        let event = #"{"event":"tick","channel":"room","data":"1"}"#
        var transcript = Transcript.connected()
        transcript.receive(event)
        transcript.receiveError("no such channel", code: 4009)
        var closed = transcript
        closed.close(1000)
        #expect(closed.machine.state == .reconnecting)
        transcript.receive(event)
        #expect(transcript.machine.session.lastServerError == nil)
    }

    // MARK: Without automatic reconnection

    // Proves P5.11.
    @Test(arguments: [1000, 1006, 3000, 4000, 4001, 4099, 4400] as [UInt16])
    func `Without automatic reconnection, a close that doesn't ask to come back stops the client`(code: UInt16) {
        var transcript = Transcript.connected { $0.autoReconnect = false }
        transcript.close(code)
        #expect(transcript.machine.state == .disconnected)
    }

    // Proves P5.11.
    @Test(arguments: [4100, 4199, 4200, 4299, 4300, 4399] as [UInt16])
    func `Without automatic reconnection, a client still returns once if the close asks for it`(code: UInt16) {
        var transcript = Transcript.connected { $0.autoReconnect = false }
        transcript.close(code)
        #expect(transcript.machine.state == (code / 100 == 42 ? .connecting : .reconnecting))
        transcript.pass(.seconds(2))
        // The server is restarting and isn't reachable yet.
        transcript.fail(.connectionRefused)
        #expect(transcript.machine.state == .reconnecting)
        #expect(transcript.pass(.seconds(5)).opened.count == 1)
        transcript.establish()
        transcript.close(1006)
        #expect(transcript.machine.state == .disconnected, "it asked for one return")
    }

    // Proves P5.11.
    @Test func `A server's request to come back is forgotten when the user disconnects`() {
        var transcript = Transcript.connected { $0.autoReconnect = false }
        transcript.close(4100)
        transcript.play(.disconnect, .connect)
        transcript.fail(.connectionRefused)
        #expect(transcript.machine.state == .disconnected)
    }
}

extension PusherError {
    fileprivate var advisesToCheckTheKey: Bool { message.contains("check the key") }
}
