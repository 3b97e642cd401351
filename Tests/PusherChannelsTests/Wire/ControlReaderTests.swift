import Testing

@testable import PusherChannels

/// The protocol's own events in every form that servers send them.
@Suite struct ControlReaderTests {
    private func control(_ event: String, data: String?, channel: String? = nil) throws -> ServerControl? {
        let members = [
            "\"event\":\(event.quotedJSON)", data.map { "\"data\":\($0)" }, channel.map { "\"channel\":\($0.quotedJSON)" },
        ]
        let text = Array("{\(members.compactMap { $0 }.joined(separator: ","))}".utf8)
        let message = try text.withUnsafeBytes { try EnvelopeDecoder().decode($0) }
        guard case .control(let control, _) = message else { return nil }
        return control
    }

    /// The value itself, and the string that holds it.
    private func bothForms(_ json: String) -> [String] { [json, json.quotedJSON] }

    // MARK: Connection

    @Test(
        arguments: [
            (#"{"socket_id":"1.2","activity_timeout":120}"#, "1.2", 120), (#"{"socket_id":"1.2"}"#, "1.2", nil),
            (#"{"socket_id":12,"activity_timeout":30.0}"#, "12", 30), (#"{"socket_id":"a","activity_timeout":0}"#, "a", nil),
            (#"{"socket_id":"a","activity_timeout":-5}"#, "a", nil), (#"{"socket_id":"a","activity_timeout":1e18}"#, "a", nil),
            (#"{"socket_id":"a","activity_timeout":"120"}"#, "a", nil), (#"{"socket_id":"a","activity_timeout":null}"#, "a", nil),
        ] as [(String, String, Int?)])
    func connectionEstablished(data: String, socketID: String, timeout: Int?) throws {
        for form in bothForms(data) {
            #expect(
                try control("pusher:connection_established", data: form)
                    == .connectionEstablished(socketID: socketID, activityTimeout: timeout.map { .seconds($0) }))
        }
    }

    @Test(arguments: ["{}", #"{"socket_id":""}"#, #"{"socket_id":null}"#, #"{"socket_id":["1"]}"#, "7", "[]", nil] as [String?])
    func connectionEstablishedNeedsASocketID(data: String?) {
        #expect(throws: MalformedFrame.incomplete(event: "pusher:connection_established", missing: "a socket_id")) {
            try control("pusher:connection_established", data: data)
        }
    }

    @Test(
        arguments: [
            (#"{"code":4001,"message":"no"}"#, 4001, "no"), (#"{"code":null,"message":"no"}"#, nil, "no"),
            (#"{"message":"no"}"#, nil, "no"), (#"{"code":4009}"#, 4009, "the server gave no reason"),
            ("{}", nil, "the server gave no reason"), (#"{"code":"x","message":7}"#, nil, "the server gave no reason"),
        ] as [(String, Int?, String)])
    func errors(data: String, code: Int?, message: String) throws {
        for form in bothForms(data) {
            #expect(try control("pusher:error", data: form) == .error(code: code, message: message))
        }
    }

    @Test func anErrorMayBePlainTextOrNothing() throws {
        #expect(try control("pusher:error", data: "\"out of order\"") == .error(code: nil, message: "out of order"))
        #expect(try control("pusher:error", data: nil) == .error(code: nil, message: "the server gave no reason"))
    }

    // MARK: Subscriptions

    @Test(arguments: ["{}", "\"\"", "null", nil, "\"no json\"", "[]"] as [String?])
    func successWithoutMembers(data: String?) throws {
        #expect(
            try control("pusher_internal:subscription_succeeded", data: data, channel: "c")
                == .subscriptionSucceeded(channel: "c", presence: nil))
    }

    @Test(arguments: [
        // The usual form.
        #"{"presence":{"count":2,"ids":["b","a"],"hash":{"a":{"n":1},"b":null}}}"#,
        // Without ids, as pusher-fake sends it, only the order is lost.
        #"{"presence":{"hash":{"b":null,"a":{"n":1}}}}"#,
        #"{"presence":{"count":7,"ids":["b","a","b"],"hash":{"a":{"n":1}}}}"#,
    ])
    func membersInEveryForm(data: String) throws {
        for form in bothForms(data) {
            guard
                case .subscriptionSucceeded("c", let presence?) = try control(
                    "pusher_internal:subscription_succeeded", data: form, channel: "c")
            else {
                Issue.record("no members")
                return
            }
            #expect(Set(presence.members.map(\.userID)) == ["a", "b"])
            #expect(presence.members.count == 2)
            #expect(presence.members.first { $0.userID == "a" }?.info == ["n": 1])
            #expect(presence.members.first { $0.userID == "b" }?.info == nil)
        }
    }

    @Test(arguments: [
        (#"{"presence":{"ids":[1,"b"],"hash":[]}}"#, ["1", "b"]), (#"{"presence":{"ids":null,"hash":null}}"#, []),
        (#"{"presence":[]}"#, []), (#"{"presence":{"ids":["a",{},null],"hash":"x"}}"#, ["a"]),
    ])
    func oddMembers(data: String, ids: [String]) throws {
        guard
            case .subscriptionSucceeded(_, let presence?) = try control(
                "pusher_internal:subscription_succeeded", data: data, channel: "c")
        else {
            Issue.record("no members")
            return
        }
        #expect(presence.members.map(\.userID) == ids)
    }

    @Test(
        arguments: [
            (#"{"type":"AuthError","error":"denied","status":403}"#, "AuthError", "denied", 403),
            ("{}", nil, "the server gave no reason", nil), (#""full""#, nil, "full", nil),
        ] as [(String, String?, String, Int?)])
    func subscriptionErrors(data: String, type: String?, message: String, status: Int?) throws {
        for event in ["pusher:subscription_error", "pusher_internal:subscription_error"] {
            #expect(
                try control(event, data: data, channel: "c")
                    == .subscriptionError(channel: "c", type: type, message: message, status: status))
        }
    }

    @Test func subscriptionCounts() throws {
        for form in bothForms(#"{"subscription_count":7}"#) {
            #expect(
                try control("pusher_internal:subscription_count", data: form, channel: "c")
                    == .subscriptionCount(channel: "c", count: 7))
        }
    }

    // MARK: Members

    @Test func membersComingAndGoing() throws {
        for form in bothForms(#"{"user_id":"a","user_info":{"n":1}}"#) {
            #expect(
                try control("pusher_internal:member_added", data: form, channel: "c")
                    == .memberAdded(channel: "c", member: PresenceMember(userID: "a", info: ["n": 1])))
            #expect(
                try control("pusher_internal:member_removed", data: form, channel: "c")
                    == .memberRemoved(channel: "c", userID: "a"))
        }
        #expect(
            try control("pusher_internal:member_added", data: #"{"user_id":10}"#, channel: "c")
                == .memberAdded(channel: "c", member: PresenceMember(userID: "10", info: nil)))
    }

    // MARK: What is missing

    @Test(arguments: [
        ("pusher_internal:subscription_succeeded", "{}"), ("pusher_internal:subscription_error", "{}"),
        ("pusher_internal:subscription_count", #"{"subscription_count":1}"#),
        ("pusher_internal:member_added", #"{"user_id":"a"}"#),
        ("pusher_internal:member_removed", #"{"user_id":"a"}"#),
    ])
    func whatIsAboutAChannelNamesIt(event: String, data: String) {
        for channel in [nil, ""] {
            #expect(throws: MalformedFrame.incomplete(event: event, missing: "a channel")) {
                try control(event, data: data, channel: channel)
            }
        }
    }

    @Test(arguments: [
        ("pusher_internal:member_added", "a user_id"), ("pusher_internal:member_removed", "a user_id"),
        ("pusher_internal:subscription_count", "a subscription_count"),
    ])
    func whatIsAboutSomethingNamesIt(event: String, what: String) {
        for data in ["{}", "\"\"", "7", #"{"user_id":null,"subscription_count":"many"}"#, nil] {
            #expect(throws: MalformedFrame.incomplete(event: event, missing: what)) {
                try control(event, data: data, channel: "c")
            }
        }
    }
}
