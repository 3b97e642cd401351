import Testing

@testable import PusherChannels

@Suite struct ClientEventTests {
    private let event = ClientEvent(name: "client-e", channel: "private-room", data: "{\"a\":1}")

    private func subscribing() -> Transcript {
        var transcript = Transcript.connected()
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:s")))
        return transcript
    }

    private func succeed(_ transcript: inout Transcript) -> [Effect] {
        transcript.receive(#"{"event":"pusher_internal:subscription_succeeded","channel":"private-room","data":"{}"}"#)
    }

    private func trigger(_ transcript: Transcript, _ event: ClientEvent) -> TriggerResult {
        var machine = transcript.machine
        var effects: [Effect] = []
        return machine.trigger(event, into: &effects)
    }

    @Test func subscribedChannelSendsAtOnce() {
        var transcript = subscribing()
        _ = succeed(&transcript)
        #expect(trigger(transcript, event) == .sent)
        #expect(transcript.play(.trigger(event)) == [.send(event.message)])
    }

    @Test func eventsWaitForTheSubscriptionInOrder() {
        var transcript = subscribing()
        #expect(trigger(transcript, event) == .queued)
        let second = ClientEvent(name: "client-f", channel: "private-room", data: "2")
        for event in [event, second] { #expect(transcript.play(.trigger(event)).isEmpty) }
        #expect(succeed(&transcript).sent == [event.message, second.message])
        #expect(succeed(&transcript).sent.isEmpty, "they are sent once")
    }

    @Test func queueIsBounded() {
        var transcript = Transcript.connected { $0.unsentEventLimit = 2 }
        transcript.play(.subscribe(channel: "private-room", auth: PusherAuth(auth: "k:s")))
        for _ in 1...2 { transcript.play(.trigger(event)) }
        guard case .refused = trigger(transcript, event) else {
            Issue.record("the third event was accepted")
            return
        }
    }

    @Test(arguments: [
        ("shout", "private-room"), ("client-e", "room"), ("client-e", "private-encrypted-room"), ("client-e", "private-other"),
    ])
    func whatTheProtocolForbidsIsRefused(name: String, channel: String) {
        var transcript = subscribing()
        _ = succeed(&transcript)
        transcript.play(.subscribe(channel: "room", auth: nil))
        guard case .refused(let error) = trigger(transcript, ClientEvent(name: name, channel: channel, data: "{}")) else {
            Issue.record("accepted")
            return
        }
        #expect(error.kind == .invalidRequest)
    }
}
