import Testing

@testable import PusherChannels

@Suite struct ConnectionMachineTests {
    // Proves P3.1, P3.4.
    @Test func `The client is connected once the server confirms it, not when the socket opens`() {
        var transcript = Transcript()
        #expect(transcript.play(.connect) == [.deliver(.stateChanged(from: .disconnected, to: .connecting)), .open(1)])
        #expect(transcript.play(.socketOpened(ConnectionAttempt(1))).isEmpty)
        let outputs = transcript.receive(#"{"event":"pusher:connection_established","data":"{\"socket_id\":\"7.8\"}"}"#)
        #expect(outputs.stateChanges == [.connected] && outputs.reasons == [nil])
        #expect(outputs.events == ["pusher:connection_established"])
        #expect(transcript.machine.socketID?.text == "7.8")
    }

    // Proves P3.3.
    @Test func `A socket id belongs to one connection and is gone when the connection is lost`() {
        var transcript = Transcript.connected()
        #expect(transcript.machine.socketID?.text == "1.1")
        transcript.drop()
        #expect(transcript.machine.socketID == nil)
        transcript.establish()
        #expect(transcript.machine.socketID?.text == "1.2")
    }

    // Proves P3.2.
    @Test(arguments: [#"{}"#, #"{"socket_id":"POST\n/apps/1/events\nx="}"#])
    func `An establishment without a usable socket id ends the attempt with 1002 and is reported`(data: String) {
        var transcript = Transcript.opened()
        let outputs = transcript.receive(#"{"event":"pusher:connection_established","data":\#(data.quotedJSON)}"#)
        #expect(outputs.first == .close(1, code: 1002))
        #expect(outputs.errors.map(\.kind) == [.malformedMessage])
        #expect(outputs.stateChanges == [.reconnecting])
        #expect(transcript.machine.session.lastSocketID == nil)
        #expect(transcript.passToDeadline().opened == [ConnectionAttempt(2)])
    }

    // Proves P3.2, P3.6.
    @Test(arguments: [("9.9", []), ("a b", [PusherError.Kind.malformedMessage])])
    func `A second establishment changes no socket id, and an invalid one is reported`(id: String, errors: [PusherError.Kind]) {
        var transcript = Transcript.connected()
        let outputs = transcript.receive(#"{"event":"pusher:connection_established","data":"{\"socket_id\":\"\#(id)\"}"}"#)
        #expect(outputs.errors.map(\.kind) == errors)
        #expect(transcript.machine.socketID?.text == "1.1")
    }

    // Proves P3.7.
    @Test func `A request to connect while connecting or connected does nothing`() {
        var transcript = Transcript.opened()
        #expect(transcript.play(.connect).isEmpty)
        transcript.establish()
        #expect(transcript.play(.connect).isEmpty)
        var opening = Transcript()
        opening.play(.connect)
        #expect(opening.play(.connect).isEmpty)
    }

    // Proves P3.7.
    @Test func `A request to connect is carried out at once while waiting, and after the close while the socket is closing`() {
        var waiting = Transcript.connected()
        waiting.close(1006)
        #expect(waiting.play(.connect).opened == [ConnectionAttempt(2)])
        var closing = Transcript.connected()
        closing.play(.disconnect)
        #expect(closing.play(.connect).isEmpty)
        #expect(closing.close(1000).opened == [ConnectionAttempt(2)])
    }

    // Proves P3.5.
    @Test(arguments: [false, true])
    func `An attempt not opened within 15 seconds, or not established 15 seconds later, is closed and times out`(isOpen: Bool) {
        var transcript = Transcript()
        transcript.play(.connect)
        if isOpen { transcript.play(.socketOpened(transcript.attempt)) }
        #expect(transcript.pass(.seconds(14)).isEmpty)
        let outputs = transcript.pass(.seconds(1))
        #expect(outputs.contains(.close(1)))
        #expect(outputs.errors.map(\.kind) == [.timedOut])
        #expect(transcript.machine.state == .reconnecting)
    }

    // MARK: Disconnecting

    // Proves P3.8.
    @Test(arguments: [false, true])
    func `Disconnecting before the establishment closes the socket, and no attempt follows`(isOpen: Bool) {
        var transcript = Transcript()
        transcript.play(.connect)
        if isOpen { transcript.play(.socketOpened(transcript.attempt)) }
        #expect(transcript.play(.disconnect).contains(.close(1)))
        transcript.fail(.cancelled)
        #expect(transcript.machine.state == .disconnected)
        #expect(transcript.pass(.seconds(3600)).isEmpty)
    }

    // Proves P3.8.
    @Test func `A connected client that disconnects closes its socket with 1000, once, ignores what comes, and keeps no timer`() {
        var transcript = Transcript()
        #expect(transcript.play(.disconnect).isEmpty)
        transcript = .connected()
        #expect(transcript.play(.disconnect) == [.deliver(.stateChanged(from: .connected, to: .disconnecting)), .close(1)])
        #expect(transcript.play(.disconnect).isEmpty)
        #expect(transcript.play(.receivedMalformed(.binary, ConnectionAttempt(1))).isEmpty, "it no longer listens")
        #expect(transcript.receive(#"{"event":"news"}"#).isEmpty)
        var unanswered = transcript
        #expect(unanswered.pass(.seconds(5)).stateChanges == [.disconnected], "a server that ignores the close")
        #expect(transcript.close(1000) == [.deliver(.stateChanged(from: .disconnecting, to: .disconnected))])
        #expect(transcript.machine.nextDeadline == nil)
    }

    // Proves P3.8.
    @Test func `A client that disconnects while waiting to reconnect makes no further attempt`() {
        var transcript = Transcript.connected()
        transcript.close(1006)
        #expect(transcript.play(.disconnect) == [.deliver(.stateChanged(from: .reconnecting, to: .disconnected))])
        #expect(transcript.pass(.seconds(3600)).isEmpty)
    }

    // Proves P3.8.
    @Test func `A client released while it wants a connection logs that and disconnects`() {
        var idle = Transcript()
        #expect(idle.play(.clientReleased).isEmpty)
        var connected = Transcript.connected()
        let outputs = connected.play(.clientReleased)
        #expect(outputs.contains(.log(.clientReleased)) && outputs.contains(.close(1)))
        #expect(connected.play(.clientReleased).isEmpty)
        connected.play(.connect)
        #expect(connected.play(.clientReleased).contains(.log(.clientReleased)))
        connected.close(1000)
        var waiting = Transcript.connected()
        waiting.close(1006)
        #expect(waiting.play(.clientReleased).contains(.log(.clientReleased)))
        #expect([connected, waiting].map(\.machine.state) == [.disconnected, .disconnected])
    }

    // Proves P3.9.
    @Test func `Reports from the socket of an earlier attempt change nothing`() {
        var transcript = Transcript.subscribing(to: "a")
        transcript.restart()
        let before = transcript.machine
        let old = ConnectionAttempt(1)
        for input in [
            .socketClosed(.closed(code: 4001, reason: ""), old), .socketOpened(old), .receivedControlFrame(old),
            Transcript.input(#"{"event":"pusher:ping"}"#, old), .receivedMalformed(.notAnObject, old),
        ] as [Input] {
            #expect(transcript.play(input).withoutLogs.isEmpty)
            #expect(transcript.machine == before)
        }
    }

    // MARK: Frames

    // Proves P2.7.
    @Test(arguments: ["", "nonsense", "[1]", "\"x\"", "{", #"{"data":1}"#, #"{"event":7}"#, #"{"event":"a"}x"#])
    func `A malformed frame is reported, and the connection goes on`(frame: String) {
        var transcript = Transcript.connected()
        #expect(transcript.receive(frame).errors.map(\.kind) == [.malformedMessage])
        #expect(transcript.machine.state == .connected)
    }

    // Proves P2.8, P13.2.
    @Test func `An unknown event with the prefix pusher: is logged and delivered, one with pusher_internal: only logged`() {
        var transcript = Transcript.subscribed(to: "room")
        let before = transcript.machine
        #expect(
            transcript.receive(#"{"event":"pusher:delta","channel":"room","data":{"seq":7}}"#) == [
                .log(.unknownEvent("pusher:delta")),
                .deliver(.event(Envelope(event: "pusher:delta", channel: "room", data: #"{"seq":7}"#))),
            ])
        let hidden = transcript.receive(#"{"event":"pusher_internal:future","data":{}}"#)
        #expect(hidden == [.log(.unknownEvent("pusher_internal:future"))])
        #expect(transcript.machine == before)
    }
}

/// A client's final shutdown in every phase: nothing connects it again.
@Suite struct ShutDownTests {
    private static func played(_ inputs: Input..., after transcript: Transcript = .connected()) -> Transcript {
        var transcript = transcript
        for input in inputs { transcript.play(input) }
        return transcript
    }

    private func isFinal(_ transcript: Transcript) -> Bool {
        var transcript = transcript
        guard transcript.machine.state == .disconnected, transcript.machine.nextDeadline == nil else { return false }
        let outputs = transcript.play(.connect)
        transcript.play(.networkChanged)
        return outputs.count == 1 && outputs.opened.isEmpty && transcript.machine.state == .disconnected
    }

    @Test func `A shutdown before the first connection is final, and a second one does nothing`() {
        var transcript = Transcript()
        for _ in 1...2 { #expect(transcript.play(.shutDown).isEmpty) }
        #expect(isFinal(transcript))
    }

    @Test func `A shutdown while waiting to reconnect disconnects the client at once and for good`() {
        var transcript = Transcript.connected { $0.reconnectPolicy.initialDelay = .seconds(5) }
        transcript.close(4100)
        #expect(transcript.play(.shutDown) == [.deliver(.stateChanged(from: .reconnecting, to: .disconnected))])
        #expect(isFinal(transcript))
    }

    @Test(arguments: [played(.connect, after: Transcript()), .connected(), played(.disconnect), played(.disconnect, .connect)])
    func `A shutdown in any phase closes the socket, at its deadline at the latest, and is final`(transcript: Transcript) {
        var transcript = transcript
        transcript.play(.shutDown)
        #expect(transcript.machine.state == .disconnecting)
        var unanswered = transcript
        unanswered.passToDeadline()
        for input in [.connect, .disconnect] as [Input] { transcript.play(input) }
        transcript.close(1000)
        #expect(isFinal(transcript) && isFinal(unanswered))
    }

    // Proves P6.5.
    @Test func `A shutdown unsubscribes from all channels and forgets them`() {
        var transcript = Transcript.connected()
        for channel: Name in ["b", "a"] { transcript.subscribe(channel) }
        #expect(transcript.play(.shutDown).sent == [.unsubscribe(channel: "b"), .unsubscribe(channel: "a")])
        #expect(transcript.machine.subscriptions.isEmpty)
    }

    @Test func `A sign-in that is pending at the shutdown, or requested after it, fails`() {
        var transcript = Transcript()
        transcript.play(.signIn)
        #expect(transcript.play(.shutDown).signInFailures.map(\.message) == ["the client was shut down"])
        #expect(transcript.play(.signIn).deliveries.count == 1, "nor does anybody wait later")
    }
}
