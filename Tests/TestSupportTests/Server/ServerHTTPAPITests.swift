import Foundation
import TestSupport
import Testing

struct ServerHTTPAPITests {
    private func rig(channels: [String], users: [String?] = []) -> ServerRig {
        var rig = ServerRig()
        for number in 1...3 {
            rig.open(number)
            for channel in channels { rig.subscribe(number, to: channel, as: users.isEmpty ? nil : users[number - 1]) }
        }
        return rig
    }

    @Test(
        arguments: [
            (["auth_signature": "00"], "Invalid signature"), (["auth_signature": nil], "Missing parameter: auth_signature"),
            (["auth_key": "other"], "Unknown auth_key: other"), (["auth_key": nil], "Missing parameter: auth_key"),
            (["auth_version": "2.0"], "Unsupported auth_version"), (["auth_timestamp": "x"], "auth_timestamp"),
            (["auth_timestamp": String(Int.min)], "Timestamp expired"), (["body_md5": nil], "Missing parameter: body_md5"),
            (["body_md5": "00"], "Invalid body_md5"), (["extra": "1"], "Invalid signature"),
        ] as [([String: String?], String)])
    func `The HTTP API refuses a wrongly signed request with 401 and the reason`(replaced: [String: String?], reason: String) {
        var rig = rig(channels: ["room"])
        let body = #"{"name":"e","channel":"room","data":"{}"}"#
        let response = rig.respond(to: .signed("POST", "/apps/1/events", body: body, replacing: replaced))
        #expect(response.status == 401 && response.text.contains(reason), "\(response.text)")
        #expect(rig.sent.isEmpty)
    }

    @Test(arguments: [(-601, 401), (-600, 200), (600, 200), (601, 401)])
    func `The HTTP API accepts a timestamp that is off by at most ten minutes`(difference: Int, status: Int) {
        var rig = ServerRig()
        let request = RecordedRequest.signed("GET", "/apps/1/channels", timestamp: 1_700_000_000 + difference)
        #expect(rig.respond(to: request).status == status)
    }

    @Test func `An event is sent on all its channels, except to the excluded connection`() {
        var rig = rig(channels: ["a", "b"])
        #expect(rig.post(#"{"name":"e","channels":["a","b"],"data":"{\"x\":1}","socket_id":"3.4"}"#).text == "{}")
        let frames = ["a", "b"].map { "{\"event\":\"e\",\"channel\":\"\($0)\",\"data\":\"{\\\"x\\\":1}\"}" }
        #expect(rig.sent == ["1: \(frames[0])", "3: \(frames[0])", "1: \(frames[1])", "3: \(frames[1])"])
    }

    @Test func `A trigger and a batch return the requested info about their channels`() {
        var rig = rig(channels: ["presence-a"], users: ["u", "v", "u"])
        let event = #""name":"e","data":"{}","info":"subscription_count,user_count""#
        let single = rig.post(#"{\#(event),"channels":["presence-a","b"]}"#).text
        #expect(single == #"{"channels":{"b":{"subscription_count":0},"presence-a":{"subscription_count":3,"user_count":2}}}"#)
        let events = #"[{\#(event),"channel":"presence-a"},{"name":"f","data":"1","channel":"b"}]"#
        let batch = rig.post(#"{"batch":\#(events)}"#, to: "batch_events").text
        #expect(batch == #"{"batch":[{"subscription_count":3,"user_count":2},{}]}"#)
        #expect(rig.sent.count == 3)
    }

    @Test(arguments: [
        ("", 400), ("[]", 400), (#"{"channel":"a","data":"1"}"#, 400), (#"{"name":"e","channel":"a"}"#, 400),
        (#"{"name":"e","channel":"a","data":{}}"#, 400), (#"{"name":"e","data":"1"}"#, 400),
        (#"{"name":"e","channels":[],"data":"1"}"#, 400), (#"{"name":"e","channels":["a",1],"data":"1"}"#, 400),
        (#"{"name":"e","channel":"a b","data":"1"}"#, 400),
        ("{\"name\":\"e\",\"channel\":\"a\",\"data\":\"\(String(repeating: "x", count: 10_241))\"}", 413),
        ("{\"name\":\"e\",\"channels\":[\(Array(repeating: "\"a\"", count: 101).joined(separator: ","))],\"data\":\"1\"}", 400),
    ])
    func `An invalid event is refused, and so is a whole batch that contains it`(body: String, status: Int) {
        var rig = rig(channels: ["a"])
        for (body, path) in [(body, "events"), (#"{"batch":[{"name":"e","channel":"a","data":"1"},\#(body)]}"#, "batch_events")] {
            #expect(rig.post(body, to: path).status == status)
            #expect(rig.sent.isEmpty)
        }
    }

    @Test func `Sockudo publishes a batch's events before the first that it refuses`() {
        var rig = ServerRig(.sockudo, open: 1)
        rig.subscribe(1, to: "a")
        func post(_ events: (channel: String, key: String)...) -> Int? {
            let events = events.map { #"{"name":"e","channel":"\#($0)","data":"\#($1)","idempotency_key":"\#($1)"}"# }
            return rig.post(#"{"batch":[\#(events.joined(separator: ","))]}"#, to: "batch_events").status
        }
        let sent = (1...4).map { #"1: {"event":"e","channel":"a","data":"\#($0)"}"# }
        #expect(post(("a", "1"), ("a b", "2"), ("a", "3")) == 400)
        #expect(rig.sent == [sent[0]])
        #expect(post(("a", "1"), ("a", "2"), ("a", "3")) == 503, "the refused one needs a new key")
        #expect(rig.sent.isEmpty)
        #expect(post(("a", "1"), ("a", "4"), ("a", "3")) == 200)
        #expect(rig.sent == [sent[3], sent[2]])
    }

    @Test func `Sockudo knows a publish again by its key for five minutes, whatever is published with it`() {
        var rig = ServerRig(.sockudo, open: 1)
        rig.subscribe(1, to: "a")
        func post(_ data: String, key: String, as header: String? = nil) -> Int {
            var request = RecordedRequest.signed(
                "POST", "/apps/1/events", body: #"{"name":"e","channel":"a","data":"\#(data)"\#(key)}"#)
            request.headers["X-Idempotency-Key"] = header
            return rig.respond(to: request).status
        }
        let (inBody, sent) = (
            #","idempotency_key":"k""#, { (data: String) in [#"1: {"event":"e","channel":"a","data":"\#(data)"}"#] }
        )
        #expect(post("1", key: inBody) == 200)
        #expect(rig.sent == sent("1"))
        rig.wait(until: .seconds(299))
        for header in [nil, "other"] {
            #expect(post("2", key: inBody, as: header) == 200)
            #expect(rig.sent.isEmpty, "the body's key counts")
        }
        #expect(post("2", key: "", as: "k") == 200)
        #expect(rig.sent.isEmpty, "the header's is the same key")
        rig.wait(until: .seconds(300))
        #expect(post("2", key: inBody) == 200)
        #expect(rig.sent == sent("2"))
        #expect(post("3", key: #","idempotency_key":"""#) == 400)
    }

    @Test func `Sockudo takes a header's key for all of a batch, and not for one of its events' keys`() {
        var rig = ServerRig(.sockudo, open: 1)
        rig.subscribe(1, to: "a")
        func post(_ channels: String..., key: String = "k") -> StubResponse {
            let events = channels.map { #"{"name":"e","channel":"\#($0)","data":"1"}"# }.joined(separator: ",")
            var request = RecordedRequest.signed("POST", "/apps/1/batch_events", body: #"{"batch":[\#(events)]}"#)
            request.headers["X-Idempotency-Key"] = key
            return rig.respond(to: request)
        }
        #expect(post("a", "a").status == 200)
        #expect(rig.sent.count == 2)
        #expect(post("a", "a", "a").status == 200)
        #expect(rig.sent.isEmpty)
        #expect(rig.post(#"{"name":"e","channel":"a","data":"1","idempotency_key":"k"}"#).status == 200)
        #expect(rig.sent.count == 1)
        #expect(post("a b", key: "l").status == 400)
        let again = post("a", key: "l")
        #expect(again.status == 503 && again.text.contains("Idempotent batch publish is still in progress"))
        for key in ["", String(repeating: "k", count: 129)] { #expect(post("a", key: key).status == 400) }
        #expect(rig.sent.isEmpty)
        let long = String(repeating: "k", count: 129)
        let events = #"{"name":"e","channel":"a","data":"1"},{"name":"e","channel":"a","data":"1","idempotency_key":"\#(long)"}"#
        #expect(rig.post(#"{"batch":[\#(events)]}"#, to: "batch_events").status == 400)
        #expect(rig.sent.isEmpty, "all keys are read before anything is published")
    }

    @Test func `A batch holds at most ten events`() {
        var rig = rig(channels: ["a"])
        for (count, status, words) in [(10, 200, "{}"), (11, 400, "Batch too large (11 > 10)\n")] {
            let events = Array(repeating: #"{"name":"e","channel":"a","data":"1"}"#, count: count).joined(separator: ",")
            let response = rig.post(#"{"batch":[\#(events)]}"#, to: "batch_events")
            #expect((response.status, response.text) == (status, words))
        }
    }

    @Test func `A batch event with a list of channels is refused with 400`() {
        var rig = rig(channels: ["a"])
        #expect(rig.post(#"{"batch":[{"name":"e","channels":["a"],"data":"1"}]}"#, to: "batch_events").status == 400)
        #expect(rig.sent.isEmpty)
    }

    @Test func `The HTTP API lists, filters, and counts channels and their users`() {
        var rig = rig(channels: ["presence-a", "b"], users: ["u", "v", "u"])
        func get(_ path: String, _ query: [String: String] = [:]) -> String {
            let response = rig.respond(to: .signed("GET", "/apps/1/channels\(path)", query: query))
            return "\(response.status) \(response.text)"
        }
        let users = ["info": "user_count"]
        let presence = get("", ["filter_by_prefix": "presence-", "info": "user_count"])
        #expect(get("") == #"200 {"channels":{"b":{},"presence-a":{}}}"#)
        #expect(presence == #"200 {"channels":{"presence-a":{"user_count":2}}}"#)
        #expect(get("", users).hasSuffix("please supply filter_by_prefix begining with presence-\n"))
        #expect(get("/b", users).hasPrefix("400 Cannot retrieve the user count unless"))
        #expect(get("/presence-empty", users).hasPrefix("200 "))
        #expect(get("/b", ["info": "subscription_count"]) == #"200 {"occupied":true,"subscription_count":3}"#)
        #expect(get("/nowhere") == #"200 {"occupied":false}"#)
        #expect(get("/presence-a/users") == #"200 {"users":[{"id":"u"},{"id":"v"}]}"#)
        #expect(get("/b/users").hasPrefix("400 "))
    }

    @Test(arguments: ["/", "/apps", "/apps/nobody/events", "/apps/1/elsewhere", "/other"])
    func `A path that is no HTTP API call is answered with 404`(path: String) {
        var rig = ServerRig()
        #expect(rig.respond(to: .signed("GET", path)).status == 404)
    }

    // MARK: The authorization endpoint

    private func authorize(_ form: String, app: ServerApp = .local) -> StubResponse {
        var rig = ServerRig(ServerMachine(apps: [app]))
        return rig.authorize(form)
    }

    @Test func `The auth endpoint's signatures are accepted by the server`() throws {
        var rig = ServerRig(open: 1)
        for (channel, user) in [
            ("private-room", ""), ("presence-room", "&user_id=ann+%26+bob&user_info=%7B%22n%22%3A1%7D"),
        ] {
            let reply = try JSONValue(parsing: rig.authorize("socket_id=1.2&channel_name=\(channel)\(user)").text)
            let (auth, data) = (reply["auth"]?.stringValue, reply["channel_data"]?.stringValue)
            rig.receive(ServerRig.subscription(to: channel, auth: auth, channelData: data), from: 1)
            #expect(rig.machine.subscribers(of: channel) == [.init(1)])
        }
        #expect(rig.machine.members(of: "presence-room") == ["ann & bob"])
    }

    @Test func `The auth endpoint signs with the secret of the socket's own app`() {
        let other = ServerApp(id: "2", key: "other", secret: "s3cret")
        var rig = ServerRig(ServerMachine(apps: [.local, other], socketIDs: ["1.2"]))
        rig.open(1, path: "/app/other?protocol=7")
        let reply = rig.authorize("socket_id=1.2&channel_name=private-a").text
        #expect(reply == #"{"auth":"other:7892e0c10b8b3ccf90cb037eafd38d103f3347cfe46f4bb9950a729d2748e1b1"}"#)
    }

    @Test func `A presence user without an id is named after the socket, and user info stays as sent`() {
        #expect(authorize("socket_id=1.2&channel_name=presence-a").text.contains(#"{\"user_id\":\"1.2\",\"user_info\":{}}"#))
        let numbers = "[12345678901234567890,1.50]"
        let reply = authorize("socket_id=1.2&channel_name=presence-a&user_info=\(numbers)").text
        #expect(reply.contains(#"\"user_info\":\#(numbers)}"#))
    }

    @Test(arguments: [("private-secret", 403), ("presence-a&user_id=mallory", 403), ("presence-a&user_id=ann", 200)])
    func `The auth endpoint answers denied channels and users with 403`(form: String, status: Int) {
        let app = ServerApp(id: "1", key: "k", secret: "s", deniedChannels: ["private-secret"], authorizes: { $1 != "mallory" })
        #expect(authorize("socket_id=1.2&channel_name=\(form)", app: app).status == status)
    }

    @Test(arguments: [
        ("channel_name=private-a", 400), ("socket_id=1.2.3&channel_name=private-a", 400),
        ("socket_id=1.&channel_name=private-a", 400), ("socket_id=1.2", 400), ("socket_id=1.2&channel_name=room", 403),
        ("socket_id=1.2&channel_name=presence-a&user_info=nonsense", 400), ("", 400), ("%", 400), ("&=&", 400),
    ])
    func `The auth endpoint refuses an invalid form with 400 and a public channel with 403`(form: String, status: Int) {
        #expect(authorize(form).status == status)
    }

    @Test func `The auth endpoint answers GET with 405`() {
        var rig = ServerRig()
        #expect(rig.authorize("socket_id=1.2&channel_name=private-a", method: "GET").status == 405)
    }
}
