import Testing

@testable import PusherChannels

@Suite struct EnvelopeTests {
    @Test(
        arguments: [
            (nil, nil),
            (#"{"a":1}"#, ["a": 1]), ("[1]", [1]), ("1", 1), ("true", true), ("null", .null), (#""quoted""#, "quoted"),
            ("plain text", "plain text"), ("", ""), ("{broken", "{broken"), ("{} {}", "{} {}"), ("NaN", "NaN"),
            (#""{\"a\":1}""#, #"{"a":1}"#),
        ] as [(String?, JSONValue?)])
    func payloadIsParsedOnceIfItCanBe(data: String?, payload: JSONValue?) {
        #expect(Envelope(event: "e", data: data).payload == payload)
    }

    @Test func renamedEnvelopeKeepsTheRest() {
        let envelope = Envelope(event: "e", channel: "c", data: "d", userID: "u", extra: ["x": "1"])
        #expect(envelope.renamed("f") == Envelope(event: "f", channel: "c", data: "d", userID: "u", extra: ["x": "1"]))
    }

    @Test(
        arguments: [
            (.notJSON(JSONError(offset: 3, problem: "bad escape")), "the frame is not JSON: bad escape at byte 3"),
            (.notAnObject, "the frame is JSON, but not an object"),
            (.missingEvent, "the frame has no event name"),
            (.binary, "the frame is binary, which protocol 7 doesn't use"),
            (.incomplete(event: "pusher:x", missing: "a channel"), "pusher:x came without a channel"),
        ] as [(MalformedMessage, String)])
    func malformedMessageTellsWhatIsWrong(frame: MalformedMessage, description: String) {
        #expect(frame.description == description)
    }

    /// For example, this envelope may be of an event whose data was decrypted.
    @Test func itsSizeIsThatOfItsDataToo() {
        let envelope = Envelope(event: "e", channel: "c", data: "0123456789abcdef", extra: ["serial": "1"])
        #expect(envelope.size == 18)
    }
}

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
