import Testing

@testable import PusherChannels

@Suite struct ConnectionMachineTests {
    // Proves P3.1, P3.4.
    @Test func `The client is connected once the server confirms it, not when the socket opens`() {
        var transcript = Transcript()
        #expect(
            transcript.play(.connect) == [
                .deliver(.stateChanged(from: .disconnected, to: .connecting)),
                .command(.openSocket(ConnectionAttempt(1), secure: true)),
            ])
        #expect(transcript.play(.socketOpened(ConnectionAttempt(1))).isEmpty)
        #expect(transcript.machine.state == .connecting)
        let outputs = transcript.receive(#"{"event":"pusher:connection_established","data":"{\"socket_id\":\"7.8\"}"}"#)
        #expect(outputs.stateChanges == [.connected])
        #expect(outputs.events == ["pusher:connection_established"])
        #expect(transcript.machine.socketID?.text == "7.8")
    }

    // Proves P3.3.
    @Test func `A socket id belongs to one connection and is gone when the connection is lost`() {
        var transcript = Transcript.connected()
        #expect(transcript.machine.socketID?.text == "1.1")
        transcript.close(1006)
        #expect(transcript.machine.socketID == nil)
        transcript.passToDeadline()
        transcript.establish()
        #expect(transcript.machine.socketID?.text == "1.2")
    }

    // Proves P3.2.
    @Test(arguments: [#"{}"#, #"{"socket_id":"POST\n/apps/1/events\nx="}"#])
    func `An establishment without a usable socket id ends the attempt with 1002 and is reported`(data: String) {
        var transcript = Transcript.opened()
        let outputs = transcript.receive(#"{"event":"pusher:connection_established","data":\#(data.quotedJSON)}"#)
        #expect(outputs.first == .command(.closeSocket(ConnectionAttempt(1), code: 1002, reason: "")))
        #expect(outputs.errors.map(\.kind) == [.malformedMessage])
        #expect(outputs.stateChanges == [.reconnecting])
        #expect(transcript.machine.session.lastSocketID == nil)
        #expect(transcript.passToDeadline().opened == [ConnectionAttempt(2)])
    }

    // Proves P3.2, P3.6.
    @Test(arguments: [("9.9", []), ("a b", [PusherError.Kind.malformedMessage])])
    func `After a second establishment the client keeps its socket id, and an invalid one is reported`(
        id: String, errors: [PusherError.Kind]
    ) {
        var transcript = Transcript.connected()
        let outputs = transcript.receive(
            #"{"event":"pusher:connection_established","data":"{\"socket_id\":\"\#(id)\"}"}"#)
        #expect(outputs.errors.map(\.kind) == errors)
        #expect(transcript.machine.socketID?.text == "1.1")
    }

    // Proves P3.7.
    @Test func `A request to connect while connecting or connected does nothing`() {
        var transcript = Transcript()
        transcript.play(.connect)
        #expect(transcript.play(.connect).isEmpty)
        transcript.play(.socketOpened(transcript.attempt))
        #expect(transcript.play(.connect).isEmpty)
        transcript.establish()
        #expect(transcript.play(.connect).isEmpty)
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
    func `An attempt that isn't opened within 15 seconds, or not established 15 seconds later, is closed and times out`(
        isOpen: Bool
    ) {
        var transcript = Transcript()
        transcript.play(.connect)
        if isOpen { transcript.play(.socketOpened(transcript.attempt)) }
        #expect(transcript.pass(.seconds(14)).isEmpty)
        let outputs = transcript.pass(.seconds(1))
        #expect(outputs.contains(.command(.closeSocket(ConnectionAttempt(1), code: 1000, reason: ""))))
        #expect(outputs.errors.map(\.kind) == [.timedOut])
        #expect(transcript.machine.state == .reconnecting)
    }

    // Proves P3.8.
    @Test(arguments: [false, true]) func `Disconnecting before the establishment closes the socket, and no attempt follows`(
        isOpen: Bool
    ) {
        var transcript = Transcript()
        transcript.play(.connect)
        if isOpen { transcript.play(.socketOpened(transcript.attempt)) }
        #expect(transcript.play(.disconnect).contains(.command(.closeSocket(ConnectionAttempt(1), code: 1000, reason: ""))))
        transcript.play(.socketClosed(.failed(TransportError(.cancelled, "")), transcript.attempt))
        #expect(transcript.machine.state == .disconnected)
        #expect(transcript.pass(.seconds(3600)).isEmpty)
    }

    // Proves P3.8.
    @Test func `A client that disconnects while waiting to reconnect makes no further attempt`() {
        var transcript = Transcript.connected()
        transcript.close(1006)
        #expect(transcript.play(.disconnect) == [.deliver(.stateChanged(from: .reconnecting, to: .disconnected))])
        #expect(transcript.pass(.seconds(3600)).isEmpty)
    }

    // Proves P3.8.
    @Test func `Disconnecting a second time does nothing, and a server that ignores the close is given five seconds`() {
        var transcript = Transcript()
        #expect(transcript.play(.disconnect).isEmpty)
        transcript = .connected()
        transcript.play(.disconnect)
        #expect(transcript.play(.disconnect).isEmpty)
        #expect(transcript.pass(.seconds(5)).stateChanges == [.disconnected])
    }

    // Proves P3.8.
    @Test func `A client released while it wants a connection logs that and disconnects`() {
        func isLogged(_ outputs: [Output]) -> Bool {
            outputs.contains(.log(.clientReleased))
        }
        var transcript = Transcript()
        #expect(transcript.play(.clientReleased).isEmpty)
        transcript.play(.connect)
        transcript.play(.socketOpened(transcript.attempt))
        transcript.establish()
        let outputs = transcript.play(.clientReleased)
        #expect(isLogged(outputs))
        #expect(outputs.contains(.command(.closeSocket(transcript.attempt, code: 1000, reason: ""))))
        #expect(transcript.play(.clientReleased).isEmpty)
        transcript.play(.connect)
        #expect(isLogged(transcript.play(.clientReleased)))
        transcript.close(1000)
        #expect(transcript.machine.state == .disconnected)

        var waiting = Transcript.connected()
        waiting.close(1006)
        #expect(isLogged(waiting.play(.clientReleased)))
        #expect(waiting.machine.state == .disconnected)
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

    // Proves P4.1, P4.3.
    @Test func `The shorter activity time-out, the server's or the client's, decides when a ping is sent`() {
        var transcript = Transcript.connected(activityTimeout: 30)
        #expect(transcript.pass(.seconds(22)).isEmpty)
        #expect(transcript.pass(.seconds(1)) == [.command(.send(.ping))])
        transcript = .connected(activityTimeout: 300)
        #expect(transcript.pass(.seconds(89)).isEmpty)
        #expect(transcript.pass(.seconds(1)) == [.command(.send(.ping))])
    }

    /// Makes the client send messages of its own.
    private func speak(_ transcript: inout Transcript) {
        transcript.play(.subscribe(channel: "room", auth: nil))
        transcript.play(.unsubscribe(channel: "room"))
    }

    // Proves P4.2, P4.3.
    @Test func `Any frame, even a malformed one or a control frame, postpones the next ping`() {
        var transcript = Transcript.connected()
        let attempt = transcript.attempt
        for input in [
            Transcript.input(#"{"event":"pusher:pong"}"#, attempt), .receivedControlFrame(attempt),
            Transcript.input("not JSON", attempt),
        ] {
            transcript.pass(.seconds(60))
            speak(&transcript)
            #expect(transcript.pass(.seconds(59)).isEmpty)
            transcript.play(input)
            speak(&transcript)
        }
        transcript.pass(.seconds(60))
        speak(&transcript)
        #expect(transcript.pass(.seconds(59)).isEmpty)
        #expect(transcript.pass(.seconds(1)) == [.command(.send(.ping))])
    }

    @Test func `Frames that arrive after the client disconnected are ignored, even malformed ones`() {
        var transcript = Transcript.connected()
        transcript.play(.disconnect)
        #expect(transcript.play(.receivedMalformed(.binary, ConnectionAttempt(1))).isEmpty)
        #expect(transcript.receive(#"{"event":"news"}"#).isEmpty)
    }

    // Proves P4.2.
    @Test func `Any frame that follows a ping counts as its pong`() {
        for input in [
            .receivedControlFrame(ConnectionAttempt(1)), .receivedMalformed(.binary, ConnectionAttempt(1)),
            Transcript.input(#"{"event":"news","channel":"nobodys"}"#, ConnectionAttempt(1)),
            Transcript.input(#"{"event":"pusher:pong","data":{}}"#, ConnectionAttempt(1)),
        ] as [Input] {
            var transcript = Transcript.connected()
            #expect(transcript.pass(.seconds(90)) == [.command(.send(.ping))])
            transcript.pass(.seconds(29))
            transcript.play(input)
            #expect(transcript.pass(.seconds(60)).isEmpty)
            #expect(transcript.machine.state == .connected)
        }
    }

    // Proves P4.3, P4.4.
    @Test func `The connection is closed with 4201 and made again at once if no pong comes in time`() {
        var transcript = Transcript.connected()
        #expect(transcript.pass(.seconds(90)) == [.command(.send(.ping))])
        let outputs = transcript.pass(.seconds(30))
        #expect(outputs.contains(.command(.closeSocket(ConnectionAttempt(1), code: 4201, reason: "pong not received"))))
        #expect(outputs.errors.map(\.kind) == [.timedOut])
        #expect(outputs.opened == [ConnectionAttempt(2)])
    }

    // Proves P4.5.
    @Test func `A ping of the server is answered with a pong`() {
        var transcript = Transcript.connected()
        #expect(transcript.receive(#"{"event":"pusher:ping","data":{}}"#) == [.command(.send(.pong))])
    }

    // Proves P2.7.
    @Test(arguments: ["", "nonsense", "[1]", "\"x\"", "{", #"{"data":1}"#, #"{"event":7}"#, #"{"event":"a"}x"#])
    func `A malformed frame is reported, and the connection goes on`(frame: String) {
        var transcript = Transcript.connected()
        #expect(transcript.receive(frame).errors.map(\.kind) == [.malformedMessage])
        #expect(transcript.machine.state == .connected)
    }

    // Proves P2.8, P13.2.
    @Test func `An unknown event with the prefix pusher: is logged and delivered as it came`() {
        var transcript = Transcript.subscribed(to: "room")
        let before = transcript.machine
        #expect(
            transcript.receive(#"{"event":"pusher:delta","channel":"room","data":{"seq":7}}"#) == [
                .log(.unknownEvent("pusher:delta")),
                .deliver(.event(Envelope(event: "pusher:delta", channel: "room", data: #"{"seq":7}"#))),
            ])
        #expect(transcript.machine == before)
    }

    // Proves P2.8.
    @Test func `An unknown event with the prefix pusher_internal: is logged and not delivered`() {
        var transcript = Transcript.connected()
        let outputs = transcript.receive(#"{"event":"pusher_internal:future","data":{}}"#)
        #expect(outputs == [.log(.unknownEvent("pusher_internal:future"))])
    }
}
