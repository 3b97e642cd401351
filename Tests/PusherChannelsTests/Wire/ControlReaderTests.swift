import Testing

@testable import PusherChannels

@Suite struct ControlReaderTests {
    private func read(_ frame: String) -> Result<ServerControl, MalformedMessage> {
        EnvelopeDecoder.decode(frame).map { if case .control(let control, _) = $0 { control } else { .unknown } }
    }

    /// Reads data sent as a value, after checking that data sent as a string gives the same result.
    private func read(_ event: String, channel: String? = nil, data: String) -> Result<ServerControl, MalformedMessage> {
        let channel = channel.map { ",\"channel\":\"\($0)\"" } ?? ""
        let asValue = read("{\"event\":\"\(event)\"\(channel),\"data\":\(data)}")
        #expect(read("{\"event\":\"\(event)\"\(channel),\"data\":\(data.quotedJSON)}") == asValue)
        return asValue
    }

    private func missing(_ event: String, _ what: String) -> Result<ServerControl, MalformedMessage> {
        .failure(.incomplete(event: Name(event), missing: what))
    }

    // Proves P2.3, P3.2, P3.4.
    @Test(
        arguments: [
            (#"{"socket_id":"123.456","activity_timeout":120}"#, "123.456", .seconds(120)),
            (#"{"activity_timeout":30,"socket_id":"opaque"}"#, "opaque", .seconds(30)),
            (#"{"socket_id":"1.2","activity_timeout":"30"}"#, "1.2", .seconds(30)),
            (#"{"socket_id":"1.2","activity_timeout":30.0}"#, "1.2", .seconds(30)),
            (#"{"socket_id":123456,"activity_timeout":30}"#, "123456", .seconds(30)),
            (#"{"socket_id":123.4560}"#, "123.4560", nil),
            (#"{"socket_id":"3f-A_.9"}"#, "3f-A_.9", nil),
            (#"{"socket_id":"1.2"}"#, "1.2", nil),
            (#"{"socket_id":"1.2","activity_timeout":null}"#, "1.2", nil),
            (#"{"socket_id":"1.2","activity_timeout":0}"#, "1.2", nil),
            (#"{"socket_id":"1.2","activity_timeout":-5}"#, "1.2", nil),
            (#"{"socket_id":"1.2","activity_timeout":86400}"#, "1.2", nil),
            (#"{"socket_id":"1.2","activity_timeout":1e300}"#, "1.2", nil),
            (#"{"socket_id":"1.2","activity_timeout":"soon"}"#, "1.2", nil),
        ] as [(String, String, Duration?)])
    func `An establishment gives a socket id, and a sensible timeout`(data: String, socketID: String, timeout: Duration?) throws {
        let id = try #require(SocketID(socketID))
        let expected = ServerControl.connectionEstablished(socketID: id, activityTimeout: timeout)
        #expect(read("pusher:connection_established", data: data) == .success(expected))
    }

    // Proves P2.7, P3.2.
    @Test(arguments: [
        "{}", #"{"socket_id":""}"#, #"{"socket_id":null}"#, #"{"socket_id":{}}"#, "[]", "null", "7", "broken", "",
    ])
    func `A connection's establishment without a socket id is refused`(data: String) {
        let frame = #"{"event":"pusher:connection_established","data":\#(data.quotedJSON)}"#
        #expect(read(frame) == missing("pusher:connection_established", "a socket_id"))
    }

    // Proves P3.2.
    @Test(arguments: [
        "POST\n/apps/1/events\nauth_key=k&x=", "1.2:private-a", "1.2&channel_name=private-a", "1.2\r\nCookie: a=b", "1 2", "é.1",
        "1.\u{0}", "1/2", String(repeating: "1", count: 129),
    ])
    func `A socket id that is too long or has characters with another meaning is refused`(text: String) throws {
        let data = #"{"socket_id":\#(text.quotedJSON)}"#
        let result = read(#"{"event":"pusher:connection_established","data":\#(data.quotedJSON)}"#)
        #expect(result == .failure(.unusableSocketID(text.inLogLine(upTo: 60))))
        #expect(try #require(throws: MalformedMessage.self) { try result.get() }.description.utf8.count < 200)
    }

    // Proves P2.3, P5.7.
    @Test(
        arguments: [
            (#"{"message":"Over capacity","code":4100}"#, 4100, "Over capacity"),
            (#"{"code":"4100","message":"Over capacity"}"#, 4100, "Over capacity"),
            (#"{"message":"Existing subscription","code":null}"#, nil, "Existing subscription"),
            (#"{"message":"Existing subscription"}"#, nil, "Existing subscription"),
            (#"{"code":4001}"#, 4001, "the server gave no reason"),
            (#"{"code":4001,"message":""}"#, 4001, "the server gave no reason"),
            (#"{"code":4001,"message":["odd"]}"#, 4001, "the server gave no reason"),
            (#"{}"#, nil, "the server gave no reason"),
            (#"[]"#, nil, "the server gave no reason"),
            (#""Over capacity""#, nil, "Over capacity"),
        ] as [(String, Int?, String)])
    func `An error event has a code if there is one, and a message or a default text`(data: String, code: Int?, message: String) {
        #expect(read("pusher:error", data: data) == .success(.error(code: code, message: message)))
    }

    // Proves P2.3, P5.7.
    @Test(arguments: [
        ("", "the server gave no reason"), (#","data":null"#, "the server gave no reason"),
        (#","data":"""#, "the server gave no reason"), (#","data":"App is gone""#, "App is gone"),
    ])
    func `An error event is read even if its data is a text or missing`(member: String, message: String) {
        #expect(read(#"{"event":"pusher:error"\#(member)}"#) == .success(.error(code: nil, message: message)))
    }

    @Test(arguments: ["", #","data":{}"#, #","data":"{}""#, #","data":null"#, #","data":"nonsense""#, #","channel":"c""#])
    func `A ping or pong frame with any data is read`(member: String) {
        #expect(read(#"{"event":"pusher:ping"\#(member)}"#) == .success(.ping))
        #expect(read(#"{"event":"pusher:pong"\#(member)}"#) == .success(.pong))
    }

    // Proves P2.3, P7.2.
    @Test(
        arguments: [
            (#"{"ids":["b","a"],"hash":{"a":{"n":1},"b":null},"count":2}"#, [("b", nil), ("a", ["n": 1])]),
            (#"{"hash":{"b":{},"a":{}}}"#, [("b", [:]), ("a", [:])]),
            (#"{"ids":["a"],"hash":[],"count":1}"#, [("a", nil)]),
            (#"{"ids":["z","z"],"hash":{"z":"Z","y":"Y"},"count":9}"#, [("z", "Z"), ("y", "Y")]),
            (#"{"ids":[10,"11"],"hash":{"10":{"n":"ten"}}}"#, [("10", ["n": "ten"]), ("11", nil)]),
            (#"{"ids":[null,1.5,{},"a"],"hash":null}"#, [("1.5", nil), ("a", nil)]),
            (#"{"ids":[12345678901234567890123,1e2],"hash":{"1e2":{}}}"#, [("12345678901234567890123", nil), ("1e2", [:])]),
            // A member without an id of soketi's: null among the ids, a text in their descriptions.
            (#"{"ids":[null,"bob"],"hash":{"undefined":{},"bob":{}}}"#, [("bob", [:]), ("undefined", [:])]),
            (#"{"ids":[],"hash":[],"count":0}"#, []),
            (#"{}"#, []),
        ] as [(String, [(String, JSONValue?)])])
    func `A presence channel's members are those of list and hash, in order`(presence: String, members: [(String, JSONValue?)]) {
        let snapshot = PresenceSnapshot(
            list: MemberList(members.map { PresenceMember(userID: Name($0.0), info: $0.1.map { JSONText($0) }) }))
        let event = "pusher_internal:subscription_succeeded"
        let reply = read(event, channel: "presence-room", data: #"{"presence":\#(presence)}"#)
        #expect(reply == .success(.subscriptionSucceeded(channel: "presence-room", presence: snapshot)))
    }

    // Proves P6.7.
    @Test(
        arguments: [
            (#"{"type":"AuthError","error":"forbidden","status":403}"#, "AuthError", "forbidden", 403),
            (#"{"type":"LimitReached","error":"too many","status":"4100"}"#, "LimitReached", "too many", 4100),
            (#"{"error":"forbidden"}"#, nil, "forbidden", nil),
            (#"{"error":""}"#, nil, "the server gave no reason", nil),
            (#"{}"#, nil, "the server gave no reason", nil),
            (#""not JSON at all""#, nil, "not JSON at all", nil),
        ] as [(String, String?, String, Int?)])
    func `A subscription error is read under both its event names`(data: String, type: String?, message: String, status: Int?) {
        let expected = ServerControl.subscriptionError(channel: "private-room", type: type, message: message, status: status)
        for event in ["pusher:subscription_error", "pusher_internal:subscription_error"] {
            #expect(read(event, channel: "private-room", data: data) == .success(expected))
        }
    }

    // Proves P2.3, P6.12.
    @Test(
        arguments: [
            (#"{"subscription_count":3}"#, 3), (#"{"subscription_count":"3"}"#, 3), (#"{"subscription_count":0}"#, 0),
            ("{}", nil), (#"{"subscription_count":null}"#, nil), (#"{"subscription_count":1.5}"#, nil),
            (#"{"subscription_count":"many"}"#, nil), ("[3]", nil), ("3", nil),
            (#"{"subscription_count":9007199254740993.0}"#, 9_007_199_254_740_993),
        ] as [(String, Int?)])
    func `A subscription count is read from a number or a string of one, and refused without one`(data: String, count: Int?) {
        let event = "pusher_internal:subscription_count"
        let expected: Result<ServerControl, MalformedMessage> =
            if let count { .success(.subscriptionCount(channel: "room", count: count)) } else {
                missing(event, "a subscription_count")
            }
        #expect(read(event, channel: "room", data: data) == expected)
    }

    // Proves P2.3, P7.3.
    @Test(
        arguments: [
            (#"{"user_id":"bob","user_info":{"n":"Bob"}}"#, "bob", ["n": "Bob"]),
            (#"{"user_id":10,"user_info":null}"#, "10", nil),
            (#"{"user_id":-0}"#, "-0", nil),
            (#"{"user_id":"bob"}"#, "bob", nil),
            (#"{"user_id":"bob","user_info":"text"}"#, "bob", "text"),
        ] as [(String, String, JSONValue?)])
    func `A member event has the user's id, and the info if there is one`(data: String, userID: String, info: JSONValue?) {
        let added = read("pusher_internal:member_added", channel: "presence-room", data: data)
        let removed = read("pusher_internal:member_removed", channel: "presence-room", data: data)
        let member = PresenceMember(userID: Name(userID), info: info.map { JSONText($0) })
        #expect(added == .success(.memberAdded(channel: "presence-room", member: member)))
        #expect(removed == .success(.memberRemoved(channel: "presence-room", userID: Name(userID))))
    }

    // Proves P2.7.
    @Test(arguments: ["pusher_internal:member_added", "pusher_internal:member_removed"])
    func `A member event without a user id, or whose data is cut off, is refused`(event: String) {
        for data in ["{}", #"{"user_id":null}"#, #"{"user_id":true}"#, #"{"user_id":["bob"]}"#, "null", "[]", #""bob""#] {
            #expect(read(event, channel: "presence-room", data: data) == missing(event, "a user_id"))
        }
        let cutOff = #"{"event":"\#(event)","channel":"presence-room","data":"{\"user_id\":\"bob\","}"#
        #expect(read(cutOff) == missing(event, "a user_id"))
    }

    // Proves P2.7.
    @Test(
        arguments: [
            "pusher_internal:subscription_succeeded", "pusher:subscription_error", "pusher_internal:subscription_error",
            "pusher_internal:subscription_count", "pusher_internal:member_added", "pusher_internal:member_removed",
        ], ["", #","channel":null"#, #","channel":"""#, #","channel":7"#])
    func `A subscription or member event without a channel is refused`(event: String, member: String) {
        let data = #"{"subscription_count":3,"user_id":"bob","error":"no"}"#
        #expect(read(#"{"event":"\#(event)"\#(member),"data":\#(data)}"#) == missing(event, "a channel"))
    }
}
