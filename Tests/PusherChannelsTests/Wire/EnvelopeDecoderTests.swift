import Testing

@testable import PusherChannels

@Suite struct EnvelopeDecoderTests {
    private func envelope(_ text: String) -> Envelope? {
        guard case .success(.event(let envelope)) = EnvelopeDecoder.decode(text) else { return nil }
        return envelope
    }

    private func failure(_ bytes: some Sequence<UInt8>) -> MalformedMessage? {
        guard case .failure(let failure) = EnvelopeDecoder.decode(bytes) else { return nil }
        return failure
    }

    // Proves P2.2.
    @Test(
        arguments: [
            // A string's content.
            (#""{\"text\":\"hello\"}""#, #"{"text":"hello"}"#),
            (#""plain text""#, "plain text"),
            (#""""#, ""),
            (#""null""#, "null"),
            (#""a \"quoted\" \\ word\n\u00e9\ud83d\ude42""#, "a \"quoted\" \\ word\né🙂"),
            (#""\"{\\\"twice\\\":1}\"""#, #""{\"twice\":1}""#),
            // The text of any other value.
            (#"{"text":"hello"}"#, #"{"text":"hello"}"#), (#"{ "a" : [ 1, 2.50, 1e3 ] }"#, #"{ "a" : [ 1, 2.50, 1e3 ] }"#),
            ("{}", "{}"), ("[]", "[]"), (#"["a",{"b":"\u0041\/"}]"#, #"["a",{"b":"\u0041\/"}]"#), ("0", "0"), ("-1.50", "-1.50"),
            ("12345678901234567890", "12345678901234567890"), ("true", "true"), ("false", "false"),
            (#"{"n":null}"#, #"{"n":null}"#),
            ("null", nil),
        ] as [(String, String?)])
    func `Event data is a string's content, the text of another value, or nothing if it is null`(sent: String, data: String?) {
        #expect(envelope(#"{"event":"e","data":\#(sent)}"#) == Envelope(event: "e", data: data))
        #expect(envelope(#"{"data" : \#(sent) , "event" : "e"}"#) == Envelope(event: "e", data: data))
    }

    // Proves P2.1.
    @Test(arguments: [
        #"{"event":"e","channel":"c","data":"d","user_id":"u"}"#,
        #"{"user_id":"u","data":"d","channel":"c","event":"e"}"#,
        "\r\n{\t\"data\" : \"d\" ,\n\"event\" : \"e\", \"user_id\":\"u\", \"channel\" :\"c\"\t}\n ",
        #"{"\u0065vent":"\u0065","chann\u0065l":"\u0063","d\u0061t\u0061":"\u0064","user\u005fid":"\u0075"}"#,
        #"{"event":"first","event":"e","channel":1,"channel":"c","data":{},"data":"d","user_id":"","user_id":"u"}"#,
    ])
    func `A frame is read the same whatever its order, spaces, escapes, and repeated members`(frame: String) {
        #expect(envelope(frame) == Envelope(event: "e", channel: "c", data: "d", userID: "u"))
    }

    // Proves P2.4.
    @Test(arguments: [
        #""channel":null,"#, #""channel":7,"#, #""channel":["c"],"#, #""channel":{"name":"c"},"#, "",
        #""event":"pusher:ping","#, #""event":{"event":"pusher:ping"},"#,
    ])
    func `A channel that isn't a string is ignored, and so is an event name before another one`(member: String) {
        #expect(envelope(#"{\#(member)"event":"e"}"#) == Envelope(event: "e"))
    }

    @Test(arguments: [("\"ann\"", "ann"), ("10", "10"), ("\"\"", ""), ("null", nil)])
    func `An event's user id may be a string or a number`(sent: String, userID: String?) {
        #expect(envelope(#"{"event":"e","user_id":\#(sent)}"#) == Envelope(event: "e", userID: userID))
    }

    /// Looking for it passes over the data, which was read before.
    @Test(arguments: [
        #""\"serial\":1""#, #"{"serial":1,"stream_id":"x"}"#, "\"\"", "null", "0", #""{\"serial\":1}","data":[1]"#,
    ])
    func `An event's position is read from beside its data, whatever that is`(data: String) throws {
        for frame in [
            #"{"event":"e","data":\#(data),"stream_id":"s","serial":7}"#,
            #"{"serial":7 , "data" : \#(data) , "event":"e" , "stream_id" : "s"}"#,
        ] {
            var decoder = EnvelopeDecoder(.sockudo)
            let block = Array((frame + frame).utf8)
            guard case .event(let event) = try decoder.decode(block, frame.utf8.count..<block.count) else {
                Issue.record("no event: \(frame)")
                continue
            }
            #expect(event.position == StreamPosition(stream: "s", serial: 7), "\(frame)")
            #expect(event.with(data: "decrypted").position == event.position)
        }
    }

    // Proves P2.5.
    @Test(
        arguments: [
            (
                #""seq":7,"event":"e","tags":{"a": "\u0041"},"id":"m-1","none":null,"\u0078":[ ],"Event":"other""#,
                ["seq": "7", "tags": #"{"a": "\u0041"}"#, "id": #""m-1""#, "none": "null", "x": "[ ]", "Event": #""other""#]
            ),
            (
                #""event":"e","events":1,"even":2,"channels":3,"dat":4,"data2":5,"user_ids":6,"":7"#,
                ["events": "1", "even": "2", "channels": "3", "dat": "4", "data2": "5", "user_ids": "6", "": "7"]
            ),
        ] as [(String, [Name: String])])
    func `A frame's unknown members, even if they resemble known ones, are kept`(members: String, extra: [Name: String]) {
        #expect(envelope("{\(members)}") == Envelope(event: "e", extra: extra))
    }

    // Proves P2.8.
    @Test func `An event is the protocol's if its name begins with pusher: or pusher_internal:, otherwise the application's`() {
        for name in [
            "pusher:ping", "pusher:nonsense", "pusher:", "pusher_internal:", "pusher_internal:nonsense", #"pusher\u003aping"#,
            #"\u0070usher:ping"#,
        ] {
            guard case .success(.control) = EnvelopeDecoder.decode(#"{"event":"\#(name)"}"#) else {
                Issue.record("\(name) is taken for an application's event")
                continue
            }
        }
        for name: Name in [
            "pusher", "pusherping", "pusher-ping", "pusher_internal", "my-pusher:ping", "Pusher:ping", "client-pusher:ping", "",
        ] {
            #expect(envelope(#"{"event":"\#(name)","data":"d"}"#) == Envelope(event: name, data: "d"))
        }
    }

    // Proves P2.7.
    @Test(arguments: JSONDocuments.invalid + JSONDocuments.foundationOnly)
    func `A frame that isn't JSON is refused`(text: String) {
        for bytes in [Array(text.utf8), Array(#"{"event":"e","data":\#(text)}"#.utf8)] {
            // A comma or brace in the text may happen to fit into the frame around it.
            guard JSONScanner.problem(in: bytes) != nil else { continue }
            guard case .notJSON? = failure(bytes) else {
                Issue.record("\(String(decoding: bytes, as: UTF8.self).debugDescription) is \(EnvelopeDecoder.decode(bytes))")
                continue
            }
        }
    }

    // Proves P2.7.
    @Test(
        arguments: [
            (.notAnObject, ["null", "true", "1", "\"text\"", "[]", #"[{"event":"e"}]"#]),
            (
                .missingEvent,
                [
                    "{}", #"{"data":"d"}"#, #"{"event":null}"#, #"{"event":1}"#, #"{"event":["e"]}"#, #"{"event":{}}"#,
                    #"{"event":"e","event":null}"#, #"{"Event":"e"}"#,
                ]
            ),
        ] as [(MalformedMessage, [String])])
    func `A frame that is JSON but not an object, or has no event name, is refused`(reason: MalformedMessage, frames: [String]) {
        for frame in frames { #expect(failure(frame.utf8) == reason, "\(frame)") }
    }

    @Test(arguments: Frames.all)
    func `A frame that is cut off anywhere is refused`(frame: String) {
        let bytes = Array(frame.utf8)
        for end in bytes.indices {
            guard case .notJSON? = failure(bytes[..<end]) else {
                Issue.record("accepted: \(String(decoding: bytes[..<end], as: UTF8.self))")
                continue
            }
        }
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func `A frame that is nested too deeply is refused`(open: String) {
        let depths = String(repeating: open, count: 100_000)
        for frame in [depths, #"{"event":"e","data":\#(depths)"#, #"{"event":"e","x":\#(depths)"#, #"{"event":\#(depths)"#] {
            guard case .notJSON(let error)? = failure(frame.utf8) else {
                Issue.record("accepted")
                continue
            }
            #expect(error.problem == "nested too deeply")
        }
    }

    @Test func `A string may hold brackets of any depth as an event's data`() {
        let depths = String(repeating: "[", count: 100_000)
        let envelope = envelope(#"{"event":"e","data":"\#(depths)"}"#)
        #expect(envelope == Envelope(event: "e", data: depths))
        #expect(envelope?.payload == .string(depths))
    }

    /// The WebSocket checks that a frame is UTF-8; invalid bytes that arrive anyway are replaced.
    @Test func `Invalid UTF-8 in a frame is replaced`() {
        let frame = Array(#"{"event":"e","data":"a"#.utf8) + [0xFF] + Array(#"b","x":"#.utf8) + [0x22, 0xC3, 0x22, 0x7D]
        let expected = Envelope(event: "e", data: "a\u{FFFD}b", extra: ["x": "\"\u{FFFD}\""])
        #expect(EnvelopeDecoder.decode(frame) == .success(.event(expected)))
    }

    @Test func `A frame with a megabyte of data is read`() {
        let data = String(repeating: #"{"text":"0123456789"},"#, count: 48_000)
        #expect(envelope(#"{"event":"e","data":\#(data.quotedJSON)}"#) == Envelope(event: "e", data: data))
    }

    /// For any bytes, the decoder's result agrees with the JSON value or reports what the value lacks.
    @Test(arguments: 21...28)
    func `A mutated frame is read or refused in agreement with its JSON value`(seed: UInt64) {
        var mutation = Mutation(seed: seed)
        for _ in 1...500 {
            let bytes = mutation.next(of: Frames.all)
            let text = String(decoding: bytes, as: UTF8.self)
            let value = JSONValue(ifJSON: text)
            let isAsExpected =
                switch EnvelopeDecoder.decode(bytes) {
                case .failure(.notJSON): value == nil
                case .failure(.notAnObject): value != nil && value?.objectValue == nil
                case .failure(.missingEvent): value?.objectValue != nil && value?["event"]?.stringValue == nil
                case .failure(.incomplete(let event, _)): value?["event"]?.stringValue == event.text
                case .failure(.unusableSocketID): value?["event"]?.stringValue == "pusher:connection_established"
                case .failure(.binary): false
                // Two patterns instead of one, because Swift 6.3.1 releases an indirect case's box before it copies out of it.
                case .success(.event(let envelope)): isRead(value, as: envelope)
                case .success(.control(_, let envelope)): isRead(value, as: envelope)
                }
            #expect(isAsExpected, "seed \(seed): \(text.debugDescription)")
        }
    }

    private func isRead(_ value: JSONValue?, as envelope: Envelope) -> Bool {
        let data = value?["data"].flatMap { $0 == .null ? nil : $0 }
        let isDataRead =
            if let string = data?.stringValue { envelope.data == string } else {
                envelope.data.flatMap(JSONValue.init(ifJSON:)) == data
            }
        return value?["event"]?.stringValue == envelope.event.text && value?["channel"]?.stringValue == envelope.channel?.text
            && isDataRead
    }
}
