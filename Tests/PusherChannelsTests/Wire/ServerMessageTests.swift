import Testing

@testable import PusherChannels

@Suite struct ServerMessageTests {
    @Test(arguments: Frames.events)
    func applicationsEventIsAnEnvelope(frame: String) {
        guard case .success(.event) = EnvelopeDecoder.decode(frame) else {
            Issue.record("\(EnvelopeDecoder.decode(frame))")
            return
        }
    }

    @Test(arguments: Frames.controls)
    func protocolsEventIsAControlWithItsEnvelope(frame: String) throws {
        guard case .success(.control(_, let envelope)) = EnvelopeDecoder.decode(frame) else {
            Issue.record("\(EnvelopeDecoder.decode(frame))")
            return
        }
        let value = try JSONValue(parsing: frame)
        #expect(envelope.event.text == value["event"]?.stringValue)
        #expect(envelope.channel?.text == value["channel"]?.stringValue)
        #expect(envelope.data == value["data"]?.stringValue ?? rawJSONMember("data", of: frame))
    }

    /// Names without the wire's `internal` are the public ones. No server sends them, and they aren't read as control events.
    @Test(arguments: [
        "pusher_internal:signin_success", "pusher:watchlist_events", "pusher:subscription_succeeded",
        "pusher:subscription_count", "pusher:member_added", "pusher:member_removed", "pusher_internal:ping", "pusher:PING",
        "pusher:ping ", "pusher:", "pusher_internal:", "pusher:\u{301}new", "pusher_internal:\u{301}",
    ])
    func unknownNameOfTheProtocolIsUnknown(event: String) throws {
        let message = try ServerMessage(reserved: Envelope(event: Name(event), channel: "c", data: "d"))
        #expect(message == .control(.unknown, Envelope(event: Name(event), channel: "c", data: "d")))
    }

    @Test(arguments: ["pusher", "pusherish", "pusher_ping", "pusher-internal:ping"])
    func nameThatOnlyBeginsLikeTheProtocolsIsTheApplications(event: String) throws {
        #expect(try ServerMessage(reserved: Envelope(event: Name(event))) == .event(Envelope(event: Name(event))))
    }
}
