import Testing

@testable import PusherChannels

@Suite struct ConnectionMachineTests {
    // MARK: Connecting

    @Test func connectsAndIsConnectedOnlyWhenEstablished() {
        var transcript = Transcript()
        #expect(
            transcript.play(.connect) == [
                .deliver(.stateChanged(from: .disconnected, to: .connecting)),
                .openSocket(ConnectionAttempt(1), secure: true),
            ])
        #expect(transcript.play(.socketOpened(ConnectionAttempt(1))).isEmpty)
        #expect(transcript.machine.state == .connecting)
        let effects = transcript.receive(#"{"event":"pusher:connection_established","data":"{\"socket_id\":\"7.8\"}"}"#)
        #expect(effects.stateChanges == [.connected])
        #expect(effects.events == ["pusher:connection_established"])
        #expect(transcript.machine.socketID == "7.8")
    }

    @Test func connectIsIdempotent() {
        var transcript = Transcript()
        transcript.play(.connect)
        #expect(transcript.play(.connect).isEmpty)
        transcript.play(.socketOpened(transcript.attempt))
        #expect(transcript.play(.connect).isEmpty)
        transcript.establish()
        #expect(transcript.play(.connect).isEmpty)
    }

    @Test func connectWhileWaitingTriesAtOnce() {
        var transcript = Transcript.connected()
        transcript.close(1006)
        #expect(transcript.play(.connect).opened == [ConnectionAttempt(2)])
    }

    @Test func connectWhileClosingFollowsTheClose() {
        var transcript = Transcript.connected()
        transcript.play(.disconnect)
        #expect(transcript.play(.connect).isEmpty)
        #expect(transcript.close(1000).opened == [ConnectionAttempt(2)])
    }

    @Test func openingTakesNoLongerThanItMay() {
        var transcript = Transcript()
        transcript.play(.connect)
        let effects = transcript.pass(.seconds(15))
        #expect(effects.contains(.closeSocket(ConnectionAttempt(1), code: 1000, reason: "")))
        #expect(effects.errors.map(\.kind) == [.timedOut])
        #expect(transcript.machine.state == .reconnecting)
    }

    @Test func establishingTakesNoLongerThanItMay() {
        var transcript = Transcript()
        transcript.play(.connect)
        transcript.play(.socketOpened(transcript.attempt))
        #expect(transcript.pass(.seconds(14)).isEmpty)
        #expect(transcript.pass(.seconds(1)).errors.map(\.kind) == [.timedOut])
    }

    @Test func closeInTheMiddleOfTheHandshakeBacksOff() {
        var transcript = Transcript()
        transcript.play(.connect)
        transcript.play(.socketOpened(transcript.attempt))
        transcript.close(1001)
        #expect(transcript.machine.state == .reconnecting)
    }

    // MARK: Disconnecting in every state

    @Test func disconnectWhileOpening() {
        var transcript = Transcript()
        transcript.play(.connect)
        #expect(transcript.play(.disconnect).contains(.closeSocket(ConnectionAttempt(1), code: 1000, reason: "")))
        transcript.play(.socketClosed(.failed(WebSocketFailure(.cancelled, "")), transcript.attempt))
        #expect(transcript.machine.state == .disconnected)
        #expect(transcript.pass(.seconds(3600)).isEmpty)
    }

    @Test func disconnectWhileWaiting() {
        var transcript = Transcript.connected()
        transcript.close(1006)
        #expect(transcript.play(.disconnect) == [.deliver(.stateChanged(from: .reconnecting, to: .disconnected))])
        #expect(transcript.pass(.seconds(3600)).isEmpty)
    }

    @Test func disconnectWhileIdleOrClosingDoesNothing() {
        var transcript = Transcript()
        #expect(transcript.play(.disconnect).isEmpty)
        transcript = .connected()
        transcript.play(.disconnect)
        #expect(transcript.play(.disconnect).isEmpty)
    }

    @Test func disconnectDoesNotWaitForEverForThePeer() {
        var transcript = Transcript.connected()
        transcript.play(.disconnect)
        #expect(transcript.pass(.seconds(5)).stateChanges == [.disconnected])
    }

    // MARK: Stale news

    @Test func reportsOfAnEarlierAttemptAreIgnored() {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "a", auth: nil))
        transcript.close(4200)
        transcript.establish()
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

    @Test func secondEstablishmentIsIgnored() {
        var transcript = Transcript.connected()
        transcript.receive(#"{"event":"pusher:connection_established","data":"{\"socket_id\":\"9.9\"}"}"#)
        #expect(transcript.machine.socketID == "1.1")
    }

    // MARK: Liveness

    @Test func serversActivityTimeoutCountsIfItIsShorter() {
        var transcript = Transcript.connected(activityTimeout: 30)
        #expect(transcript.pass(.seconds(29)).isEmpty)
        #expect(transcript.pass(.seconds(1)) == [.send(.ping)])
        transcript = .connected(activityTimeout: 300)
        #expect(transcript.pass(.seconds(120)) == [.send(.ping)])
    }

    @Test func anyFramePostponesThePing() {
        var transcript = Transcript.connected()
        transcript.pass(.seconds(100))
        transcript.receive(#"{"event":"pusher:pong"}"#)
        transcript.pass(.seconds(100))
        transcript.play(.receivedControlFrame(transcript.attempt))
        transcript.pass(.seconds(100))
        transcript.receive("not JSON")
        #expect(transcript.pass(.seconds(119)).isEmpty)
        #expect(transcript.pass(.seconds(1)) == [.send(.ping)])
    }

    @Test func pongInTimeKeepsTheConnection() {
        var transcript = Transcript.connected()
        transcript.pass(.seconds(120))
        transcript.pass(.seconds(29))
        transcript.receive(#"{"event":"pusher:pong","data":{}}"#)
        #expect(transcript.pass(.seconds(119)).isEmpty)
        #expect(transcript.machine.state == .connected)
    }

    @Test func missingPongClosesAndReconnectsAtOnce() {
        var transcript = Transcript.connected()
        #expect(transcript.pass(.seconds(120)) == [.send(.ping)])
        let effects = transcript.pass(.seconds(30))
        #expect(effects.contains(.closeSocket(ConnectionAttempt(1), code: 4201, reason: "pong not received")))
        #expect(effects.errors.map(\.kind) == [.timedOut])
        #expect(effects.opened == [ConnectionAttempt(2)])
    }

    @Test func pingIsAnswered() {
        var transcript = Transcript.connected()
        #expect(transcript.receive(#"{"event":"pusher:ping","data":{}}"#) == [.send(.pong)])
    }

    // MARK: Bad frames

    @Test(arguments: ["", "nonsense", "[1]", "\"x\"", "{", #"{"data":1}"#, #"{"event":7}"#, #"{"event":"a"}x"#])
    func badFrameIsReportedAndTheConnectionGoesOn(frame: String) {
        var transcript = Transcript.connected()
        #expect(transcript.receive(frame).errors.map(\.kind) == [.malformedMessage])
        #expect(transcript.machine.state == .connected)
    }

    @Test(arguments: [
        "pusher_internal:subscription_succeeded", "pusher_internal:member_added", "pusher_internal:member_removed",
        "pusher_internal:subscription_count", "pusher:subscription_error", "pusher:connection_established",
    ])
    func protocolEventsWithoutTheirPartsAreReported(event: String) {
        var transcript = Transcript.connected()
        #expect(transcript.receive(#"{"event":"\#(event)"}"#).errors.map(\.kind) == [.malformedMessage])
    }

    @Test func unknownProtocolEventsAreLogged() {
        var transcript = Transcript.connected()
        let effects = transcript.receive(#"{"event":"pusher_internal:future","data":{}}"#)
        #expect(effects == [.log(.debug, "unknown protocol event pusher_internal:future")])
    }
}
