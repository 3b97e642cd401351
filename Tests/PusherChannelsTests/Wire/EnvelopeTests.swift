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
