import Testing

@testable import PusherChannels

@Suite struct EnvelopeDecoderTests {
    private func decode(_ text: String) throws -> ServerMessage {
        try decode(Array(text.utf8))
    }

    private func decode(_ bytes: [UInt8]) throws -> ServerMessage {
        try bytes.withUnsafeBytes { try EnvelopeDecoder().decode($0) }
    }

    @Test func theUsualEvent() throws {
        #expect(
            try decode(#"{"event":"news","channel":"room","data":"{\"a\":1}"}"#)
                == .event(Envelope(event: "news", channel: "room", data: #"{"a":1}"#)))
    }

    /// `data` is the string as sent, the raw text of another value, nil for none.
    @Test(
        arguments: [
            (#""""#, ""), (#""plain""#, "plain"), (#""\u00e9\n""#, "é\n"), (#"{"a" : [1,"x"]}"#, #"{"a" : [1,"x"]}"#),
            ("[]", "[]"),
            ("7", "7"), ("1.50", "1.50"), ("true", "true"), (#""null""#, "null"), ("null", nil),
        ] as [(String, String?)])
    func dataOfEveryKind(data: String, kept: String?) throws {
        #expect(try decode(#"{"event":"e","data":\#(data)}"#) == .event(Envelope(event: "e", data: kept)))
    }

    @Test(arguments: [
        #"{"event":"e","channel":"c","data":"d","user_id":"u"}"#, #"{"user_id":"u","data":"d","channel":"c","event":"e"}"#,
        " {\n\t\"data\" : \"d\" , \"event\" : \"e\" , \"user_id\" : \"u\" , \"channel\" : \"c\" }\r\n ",
        #"{"\u0065vent":"\u0065","ch\u0061nnel":"c","d\u0061ta":"d","user\u005fid":"u"}"#,
        #"{"event":"x","event":"e","data":1,"data":"d","channel":"c","user_id":"u"}"#,
    ])
    func orderSpaceAndEscapesMakeNoDifference(text: String) throws {
        #expect(try decode(text) == .event(Envelope(event: "e", channel: "c", data: "d", userID: "u")))
    }

    @Test(arguments: [#""channel":null"#, #""channel":7"#, #""channel":{"a":[]}"#])
    func aChannelThatIsNoStringIsNone(member: String) throws {
        #expect(try decode(#"{"event":"e",\#(member)}"#) == .event(Envelope(event: "e")))
    }

    @Test func unknownMembersAreKeptAsTheyStand() throws {
        let message = try decode(#"{"event":"e","seq": 7 ,"tags":["a", "b"],"none":null,"text":"x\ny"}"#)
        #expect(
            message
                == .event(
                    Envelope(event: "e", extra: ["seq": "7", "tags": #"["a", "b"]"#, "none": "null", "text": #""x\ny""#])))
    }

    @Test(arguments: ["{}", #"{"event":null}"#, #"{"event":7}"#, #"{"event":{"event":"e"}}"#, #"{"data":"x","channel":"c"}"#])
    func anEventWithoutANameIsMalformed(text: String) {
        #expect(throws: MalformedFrame.missingEvent) { try decode(text) }
    }

    @Test(arguments: ["[]", "7", "null", #""event""#, "true"])
    func whatIsNoObjectIsMalformed(text: String) {
        #expect(throws: MalformedFrame.notAnObject) { try decode(text) }
    }

    @Test(arguments: ["", "{", "no", #"{"event":"e"} x"#, #"{"event":"e",}"#, #"{"event" "e"}"#, #"{event:"e"}"#, "\u{FEFF}{}"])
    func whatIsNoJSONIsMalformed(text: String) {
        do {
            _ = try decode(text)
            Issue.record("accepted")
        } catch {
            guard case .notJSON? = error as? MalformedFrame else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func bytesThatAreNoUTF8BecomeReplacementCharacters() throws {
        let bytes = Array(#"{"event":"e","data":"a"#.utf8) + [0xFF, 0xC3] + Array(#""}"#.utf8)
        guard case .event(let envelope) = try decode(bytes) else { return }
        #expect(envelope.data?.hasPrefix("a\u{FFFD}") == true)
    }

    @Test(arguments: ["pusher", "pusherish", "pusher_internal", "client-x", "x:pusher:ping"])
    func onlyTheReservedPrefixesAreReserved(name: String) throws {
        #expect(try decode(#"{"event":"\#(name)"}"#) == .event(Envelope(event: name)))
    }

    @Test(arguments: ["pusher:", "pusher:new_thing", "pusher_internal:new_thing"])
    func reservedNamesWeDoNotKnowAreSaidToBe(name: String) throws {
        #expect(try decode(#"{"event":"\#(name)"}"#) == .control(.unknown, Envelope(event: name)))
    }

    @Test func aReservedNameWrittenWithEscapesIsReserved() throws {
        #expect(
            try decode(#"{"event":"pusher\u003aping"}"#) == .control(.ping, Envelope(event: "pusher:ping")))
    }
}
