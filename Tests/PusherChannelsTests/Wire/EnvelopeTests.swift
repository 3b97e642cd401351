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
    func `An event's payload is its data parsed once, or the data's text if it isn't JSON`(data: String?, payload: JSONValue?) {
        #expect(Envelope(event: "e", data: data).payload == payload)
    }

    @Test(
        arguments: [
            (.notJSON(JSONError(offset: 3, problem: "bad escape")), "the frame is not JSON: bad escape at byte 3"),
            (.notAnObject, "the frame is JSON, but not an object"),
            (.missingEvent, "the frame has no event name"),
            (.binary, "the frame is binary, which protocol 7 doesn't use"),
            (.incomplete(event: "pusher:x", missing: "a channel"), "pusher:x came without a channel"),
        ] as [(MalformedMessage, String)])
    func `The description of a malformed message says what is wrong with it`(frame: MalformedMessage, description: String) {
        #expect(frame.description == description)
    }

    /// For example, this envelope may be of an event whose data was decrypted.
    @Test func `An envelope's size includes data that isn't part of its frame`() {
        let envelope = Envelope(event: "e", channel: "c", data: "0123456789abcdef", extra: ["serial": "1"])
        #expect(envelope.size == 18)
    }
}

@Suite struct ServerMessageTests {
    /// Names without the wire's `internal` are the public ones. No server sends them, and they aren't read as control events.
    @Test(arguments: [
        "pusher_internal:signin_success", "pusher:watchlist_events", "pusher:subscription_succeeded",
        "pusher:subscription_count", "pusher:member_added", "pusher:member_removed", "pusher_internal:ping", "pusher:PING",
        "pusher:ping ", "pusher:", "pusher_internal:", "pusher:\u{301}new", "pusher_internal:\u{301}",
    ])
    func `An event with a protocol's prefix and an unknown name is an unknown control event`(event: String) throws {
        let message = try ServerMessage(reserved: Envelope(event: Name(event), channel: "c", data: "d"))
        #expect(message == .control(.unknown, Envelope(event: Name(event), channel: "c", data: "d")))
    }
}

@Suite struct EnvelopeEncoderTests {
    // Proves P2.9, P8.1, P13.1.
    @Test(
        arguments: [
            (.ping, #"{"event":"pusher:ping","data":{}}"#),
            (.pong, #"{"event":"pusher:pong","data":{}}"#),
            (.subscription(to: "room"), #"{"event":"pusher:subscribe","data":{"channel":"room"}}"#),
            (
                .subscription(to: "private-room", auth: "key:sig"),
                #"{"event":"pusher:subscribe","data":{"channel":"private-room","auth":"key:sig"}}"#
            ),
            (
                .subscribe(channel: "presence-room", auth: "key:sig", channelData: #"{"user_id": "1","user_info":{"n":"é"}}"#),
                #"{"event":"pusher:subscribe","data":{"channel":"presence-room","auth":"key:sig","#
                    + #""channel_data":"{\"user_id\": \"1\",\"user_info\":{\"n\":\"é\"}}"}}"#
            ),
            (.unsubscribe(channel: "room"), #"{"event":"pusher:unsubscribe","data":{"channel":"room"}}"#),
            (
                .signIn(auth: "key:sig", userData: #"{"id":"1"}"#),
                #"{"event":"pusher:signin","data":{"auth":"key:sig","user_data":"{\"id\":\"1\"}"}}"#
            ),
            (
                .clientEvent(name: "client-typing", channel: "private-room", data: #"{"by":"ann"}"#),
                #"{"event":"client-typing","channel":"private-room","data":{"by":"ann"}}"#
            ),
            (
                .resume(["room": StreamPosition(stream: "s", serial: 6)]),
                #"{"event":"sockudo:resume","data":"{\"channel_positions\":{\"room\":{\"serial\":6,\"stream_id\":\"s\"}}}"}"#
            ),
            // Sockudo finds no channel in an object, and refuses `until_attach`.
            (
                .history(channel: "room", serials: 6...9, cursor: "c"),
                #"{"event":"sockudo:channel_history","data":"{\"channel\":\"room\",\"cursor\":\"c\",\"direction\":\"oldest_first\",\"end_serial\":9,\"start_serial\":6}"}"#
            ),
        ] as [(ClientMessage, String)])
    func `Each message of the client is encoded as exactly the protocol's frame`(message: ClientMessage, frame: String) {
        #expect(EnvelopeEncoder.encode(message) == frame)
    }

    private static let awkward = [
        "", "\"", "\\", "\\\"", "a\nb\r\n\t", "\u{0}\u{1F}\u{7F}", "é🙂e\u{301}\u{2028}", #"","event":"pusher:ping","x":""#, "}{",
        "\\u0041",
    ]

    // Proves P2.9.
    @Test(arguments: awkward)
    func `Strings with special characters can't break out of their place in a client's frame`(text: String) throws {
        let value = JSONValue.string(text)
        for (message, event, data) in [
            (
                .subscribe(channel: text, auth: text, channelData: text), "subscribe",
                ["channel": value, "auth": value, "channel_data": value]
            ),
            (.unsubscribe(channel: text), "unsubscribe", ["channel": value]),
            (.signIn(auth: text, userData: text), "signin", ["auth": value, "user_data": value]),
        ] as [(ClientMessage, String, JSONValue)] {
            let frame = try JSONValue(parsing: EnvelopeEncoder.encode(message))
            #expect(frame == ["event": .string("pusher:" + event), "data": data])
        }
    }

    @Test(arguments: awkward)
    func `A client event with special characters is read back as it was encoded`(text: String) {
        for data in [text.quotedJSON, "{\"t\":\(text.quotedJSON)}", "[1, 2.50]", "7", "true"] {
            let frame = EnvelopeEncoder.encode(.clientEvent(name: "client-" + text, channel: text, data: data))
            let expected = Envelope(
                event: Name("client-" + text), channel: Name(text), data: data == text.quotedJSON ? text : data)
            #expect(EnvelopeDecoder.decode(frame) == .success(.event(expected)))
        }
    }
}
