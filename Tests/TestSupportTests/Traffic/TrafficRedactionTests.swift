import Foundation
import TestSupport
import Testing

/// No secret gets out, whichever way it came in.
struct TrafficRedactionTests {
    private let rig = TrafficRig()

    private static func post(_ body: String) -> RecordedRequest {
        RecordedRequest(method: "POST", url: "https://a.example/", body: Data(body.utf8))
    }

    private static func text(_ text: String, type: String = "text/plain") -> RecordedRequest {
        RecordedRequest(method: "POST", url: "https://a.example/", headers: ["Content-Type": type], body: Data(text.utf8))
    }

    private static let multipart = "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--x--"

    /// Requests that carry `hunter2` somewhere.
    static let requests = [
        RecordedRequest(url: "https://a.example/?auth_signature=hunter2&q=1"),
        RecordedRequest(url: "https://a.example/?access%5Ftoken=hunter2,hunter2;hunter2"),
        RecordedRequest(url: "https://a.example/?p%61ssword=hunter2"),
        RecordedRequest(url: "https://user:hunter2@a.example/"),
        RecordedRequest(url: "https://a.example/", headers: ["authorization": "Basic hunter2"]),
        RecordedRequest(url: "https://a.example/", headers: ["Cookie": "a=b; sid=hunter2", "X-Api-Key": "hunter2"]),
        RecordedRequest(url: "https://a.example/", headers: ["X-Note": "sent with Bearer hunter2"]),
        RecordedRequest(url: "https://a.example/", headers: ["Referer": "https://b.example/?token=hunter2"]),
        post("user=ann&newPassword=hunter2&x=1"),
        post("password=it's,hunter2"),
        post(#"{"a":[{"refresh_token":"hunter2"}]}"#),
        post(#"{"shared_secret":{"deep":["hunter2"]}}"#),
        post(#"{"inner":"{\"password\":\"hunter2\"}"}"#),
        post(#"{"cut": {"password": "a b hunter2 c"#),
        post(#"log: {\"secret\": \"a hunter2\"} and more"#),
        post("Authorization: Basic hunter2\nHost: a"),
        post("Set-Cookie: sid=1; key=hunter2\nHost: a"),
        text(multipart, type: "multipart/form-data; boundary=x"), text(multipart),
        text(#"Authorization: Digest username="ann", response="hunter2""#),
        text(#"{"password": "a\"b hunter2", "x": "#),
        text("<user><password>it's hunter2 & more</password></user>"),
        text("token='a hunter2'"),
        text("see https://user:hunter2@a.example/path"),
        post("jwt is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.hunter2hunter2"),
        RecordedRequest(url: "https://a.example/?session%5Btoken%5D=hunter2"),
        post("user[otp]=hunter2&tokens[]=hunter2&x=1"),
        text("see https://a.example/?session%5Btoken%5D=hunter2"),
        text("see ?next=https%3A%2F%2Fa.example%3Faccess_token%3Dhunter2"),
        text(#"<wsse:Password Type="text">hunter2</wsse:Password>"#),
        text("<ns:token>hunter2</ns:token>"),
        text(#""password" => "hunter2""#),
        text("password := hunter2"),
        text("<token=hunter2>"),
        text("<password: hunter2>"),
        text("<password = hunter2>"),
        text("see ?%access_token=hunter2"),
        text("see ?%61ccess_token=hunter2"),
        text("see ?x%5Fotp=hunter2"),
        text("{\"tokens\":[\"a]\", \"hunter2\"]}\n{\"x\":1}"),
        text("{\"password\": {\"value\":[1], \"b\":\"hunter2\"}}\n{}"),
        text(#"log: {\"tokens\":[\"a]\", \"hunter2\"]} and more"#),
        text(#"{"cut": {"secrets": [1, ["hunter2"], "a"#),
        text("password=[ab]hunter2"),
        text("tokens={a]hunter2} and more"),
        text(#"<meta name="csrf-token" content="hunter2">"#),
        text(#"<input VALUE='a>hunter2' type="hidden" name="user[csrf_token]">"#),
        post(#"[{"name":"password","value":"hunter2"}]"#), post(#"{"set":{"value":["hunter2"],"key":"API_KEY"}}"#),
        RecordedRequest(url: "https://a.example/?sig=hunter2&pass=hunter2&passcode=hunter2&hmac=hunter2&sid=hunter2"),
        RecordedRequest(url: "https://a.example/?signing_key=hunter2&encryption_key=hunter2"),
        RecordedRequest(url: "https://a.example/", headers: ["X-Auth-Key": "hunter2"]),
        RecordedRequest(url: "https://a.example/", headers: ["X-Session-Id": "hunter2"]),
    ]

    @Test(arguments: requests.indices) func `A secret in a request reaches no file, archive, message, or description`(index: Int)
        throws
    {
        let rig = TrafficRig(
            headers: ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Key", "X-Session-Id", "X-Note", "Referer"])
        rig.recorder.record(Self.requests[index])
        try rig.recorder.record(to: "traffic.json")
        let file = try rig.text()
        let mismatch = try #require(
            try rig.mismatch(#"[{"url": "https://a.example/", "parameters": {"none": 1}, "body": {"none": 1}}]"#))
        for text in [file, mismatch.description, rig.archive, "\(rig.recorder.entries)"] { #expect(!text.contains("hunter2")) }
        #expect(file.contains("<redacted>") || file.contains("<multipart>"))
        // The same with nothing hidden shows that the secret was there.
        let open = TrafficRig(redaction: .none)
        open.recorder.record(Self.requests[index])
        #expect(open.archive.contains("hunter2") || file.contains("<multipart>"))
    }

    @Test func `A frame's secrets are hidden, and the app's key is kept`() throws {
        let socket = MockWebSocket(server: .manual)
        let recording = rig.recorder.recording(socket)
        let (path, cookie) = ("/app/key?token=hunter2", ["Cookie": "hunter2"])
        let request = WebSocketRequest(secure: true, host: "a.example", port: 443, path: path, headers: cookie)
        recording.open(request, attempt: ConnectionAttempt(1))
        socket.accept()
        recording.send(
            #"{"event":"pusher:signin","data":{"auth":"app-key:hunter2","user_data":"{\"id\":\"7\",\"token\":\"hunter2\"}"}}"#)
        recording.send(#"{"event":"pusher:subscribe","data":{"auth":"hunter2 without a key","channel":"private-a"}}"#)
        socket.serverSendsEvent("login", channel: "private-a", data: #"{"password":"hunter2","pin":null}"#)
        socket.serverSends("password: hunter2")
        #expect(
            try rig.written().map { $0["data"] } == [
                ["auth": "app-key:<redacted>", "user_data": ["id": "7", "token": "<redacted>"]],
                ["auth": "<redacted>", "channel": "private-a"], ["password": "<redacted>", "pin": .null], "password: <redacted>",
            ])
        for text in [try rig.text(), rig.archive] { #expect(!text.contains("hunter2")) }
    }

    @Test func `A response's secrets are hidden in the archive`() throws {
        let session = MockSession(delivery: .immediate)
        let body = Data(#"{"auth":"key:hunter2","shared_secret":"hunter2"}"#.utf8)
        session.stub(.any, StubResponse(headers: ["Set-Cookie": "sid=hunter2"], body: body))
        try rig.recorder.recording(session).ask("https://a.example/auth")
        #expect(!rig.archive.contains("hunter2") && rig.archive.contains("key:<redacted>"))
    }

    // MARK: Reading

    @Test func `A secret in an older file reaches no mismatch message`() throws {
        rig.post(#"{"auth": "key:abc", "name": "x"}"#)
        for secret in [#""key:hunter2""#, #"{"$literal": "key:hunter2"}"#, #"{"deep": ["hunter2"]}"#] {
            let mismatch = try rig.mismatch(
                #"""
                [{"url": "https://user:hunter2@api.example.com/events", "body": {"name": "y", "auth": \#(secret)}},
                 {"event": "hunter2 lost", "frame": "sent", "data": {"password": \#(secret)}}]
                """#)
            #expect(mismatch?.differences.count == 3 || mismatch?.differences.count == 2)
            #expect(mismatch?.description.replacing("hunter2 lost", with: "").contains("hunter2") == false)
        }
    }

    @Test(arguments: [#"{"$regex": "[1-9]00"}"#, #"{"$unordered": ["[1-9]00"]}"#])
    func `A matcher of a value that the redaction hides is refused, not taken for a match of any value`(matcher: String) throws {
        rig.post(#"{"max_tokens": 100}"#)
        let file = #"[{"url": "https://.*", "body": {"max_tokens": \#(matcher)}}]"#
        let error = try rig.complaint(about: file)
        #expect(error?.kind == .malformedFile(path: "[0].body.max_tokens"))
        #expect(error?.description.contains(#"`redaction: .standard.showing(names: ["max_tokens"])` shows it"#) == true)
        #expect(error?.description.contains("[1-9]") == false)
        let pair = #"[{"url": "https://.*", "body": {"name": "password", "value": \#(matcher)}}]"#
        #expect(try rig.complaint(about: pair)?.kind == .malformedFile(path: "[0].body.value"))
        for deep in [#"{"tokens": [\#(matcher)]}"#, #"{"credentials": {"user": \#(matcher)}}"#] {
            #expect(try rig.complaint(about: #"[{"url": "https://.*", "body": \#(deep)}]"#) != nil)
        }
        let open = TrafficRig(redaction: .standard.showing(names: ["max_tokens"]))
        open.post(#"{"max_tokens": 50}"#)
        #expect(try open.paths(file) == ["body.max_tokens"])
    }

    @Test func `A redacted value matches any value that isn't empty, and one must be present`() throws {
        rig.post(#"{"password": "one"}"#)
        try rig.recorder.record(to: "traffic.json")
        rig.recorder.start()
        rig.post(#"{"password": "two"}"#)
        try rig.recorder.validate(against: "traffic.json", using: .exact)
        for body in [#"{"password": ""}"#, #"{"password": null}"#, "{}"] {
            rig.recorder.start()
            rig.post(body)
            #expect(throws: TrafficMismatch.self) { try rig.recorder.validate(against: "traffic.json") }
        }
        #expect(try rig.paths(#"[{"body": {"password": {"$absent": true}}}]"#) == [])
        rig.recorder.start()
        rig.post(#"{"password": "two"}"#)
        #expect(try rig.paths(#"[{"url": "https://.*", "body": {"password": {"$absent": true}}}]"#) == ["body.password"])
        #expect(try rig.mismatch(#"[{"body": {"password": {"$type": "string"}}}]"#) == nil)
    }

    @Test func `The app's key in a redacted signature is compared`() throws {
        rig.post(#"{"auth": "key:abc"}"#)
        #expect(try rig.mismatch(#"[{"body": {"auth": "key:0123"}}]"#) == nil)
        #expect(try rig.paths(#"[{"url": "https://.*", "body": {"auth": "other:0123"}}]"#) == ["body.auth"])
    }

    @Test(arguments: [
        ("a token=abc&x=1 and more", "a token=<redacted>&x=1 and more"),
        (#"<a token="abc" x="1"/>"#, #"<a token="<redacted>" x="1"/>"#),
        ("X-Auth-Token: Bearer abc and more", "X-Auth-Token: <redacted> and more"), ("Bearer  abc x", "Bearer  <redacted> x"),
        ("secret=Basic abc", "secret=<redacted>"), ("token=Bearer", "token=<redacted>"),
        ("Authorization: Basic abc\nHost: a", "Authorization: <redacted>\nHost: a"),
        ("<secret>abc</secret><name>n</name>", "<secret><redacted></secret><name>n</name>"),
        (
            #"<input name="q" value="tea"><input value="abc" name=token><b value="1">token</b>"#,
            #"<input name="q" value="tea"><input value="<redacted>" name=token><b value="1">token</b>"#
        ),
        ("auth: key:abc", "auth: key:<redacted>"), ("https://u:abc@h/p", "https://u:<redacted>@h/p"),
        ("https://h:80/p?q=1", "https://h:80/p?q=1"), ("token", "token"), ("token=", "token="),
        ("https://token@h:80/p", "https://<redacted>@h:80/p"), ("https://@h/p", "https://@h/p"),
        ("https://h/a@b", "https://h/a@b"),
        ("https://u:p@ss@h/p", "https://u:<redacted>@h/p"), ("https://u:p/ss?@h/p", "https://u:<redacted>@h/p"),
        ("https://h:80/p@q", "https://h:80/p@q"), ("https://[::1]/p@q", "https://[::1]/p@q"),
        ("https://h/a:b@q", "https://h/a:b@q"),
        ("the token is: good", "the token is: good"),
        ("Invalid token: expired at noon", "Invalid token: expired at noon"),
        ("Invalid signature: Expected abc", "Invalid signature: Expected abc"),
        ("Invalid signature: you should have sent", "Invalid signature: you should have sent"),
        (
            "Invalid signature: expected \(String(repeating: "0a", count: 32)), got it",
            "Invalid signature: expected <redacted>, got it"
        ),
        ("Bearer realm=\"app\", error=\"invalid_token\"", "Bearer realm=\"app\", error=\"invalid_token\""),
        ("the Bearer token is missing", "the Bearer token is missing"), ("Bearer isolated1", "Bearer <redacted>"),
        ("token=expired", "token=<redacted>"), ("token: 'expired'", "token: '<redacted>'"),
        ("password: isotope", "password: <redacted>"),
        ("password", "password"), ("secret: \"", "secret: \""), ("password='", "password='"),
        ("\\password\\=\\", "\\password\\=\\"),
    ]) func `Only the secret part of a text is hidden, and hiding twice changes nothing`(text: String, expected: String) throws {
        rig.recorder.record(Self.text(text))
        let body = try #require(rig.recorder.entries.first?.json("body"))
        let shown = try JSONValue(parsing: body)
        #expect(shown == .string(expected))
        rig.recorder.start()
        rig.recorder.record(Self.text(expected))
        #expect(rig.recorder.entries.first?.json("body") == body)
    }

    /// It would take minutes if each address were compared with all that follows.
    @Test func `A text of ten thousand addresses without a space is read in the time that its length takes`() {
        let addresses = String(repeating: "a://", count: 10_000) + String(repeating: ",", count: 500_000)
        rig.recorder.record(Self.text(addresses + " https://u:abc@h"))
        #expect(rig.recorder.entries.first?.json("body")?.hasSuffix(#", https://u:<redacted>@h""#) == true)
    }

    @Test func `Random texts full of separators can be recorded and exported`() {
        let parts = [
            "token", "auth", "Cookie", "Bearer", "eyJ", "://", ":", "=", "\"", "'", "\\", "<", ">", "&", " ", "\n", "?", "@", "{",
            "}", "x", "é",
        ]
        var random = SplitMix64(seed: 7)
        for _ in 0..<1_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                .joined()
            let rig = TrafficRig()
            rig.recorder.record(RecordedRequest(method: "POST", url: "/?\(text)", headers: ["H": text], body: Data(text.utf8)))
            rig.recorder.record(Self.text(text))
            #expect(rig.recorder.entries.count == 2)
            _ = rig.recorder.exportHAR()
        }
    }

    @Test func `Validation messages for a password field are shown, and other values are hidden`() throws {
        let messages = #"["is too short","must have a digit (0-9)"]"#
        rig.post(#"{"errors":{"password":\#(messages),"token":["is hunter2?"],"secret":["hunter2"]}}"#)
        let body = try JSONValue(parsing: rig.recorder.entries.first?.json("body") ?? "")
        let shown = try JSONValue(parsing: messages)
        #expect(body["errors"] == ["password": shown, "token": "<redacted>", "secret": "<redacted>"])
    }

    // MARK: Custom redactions

    /// Programs differ in which characters of a text they percent-encode.
    @Test(arguments: [
        "https://a.example/correct%20horse!", "https://a.example/correct%20horse%21", "https://a.example/?correct+horse!=1",
        "https://a.example/?x=correct+horse%21", "https://a.example/?correct%20%68orse!", "https://a.example/#caf%c3%a9",
        "https://a.example/caf%C3%a9",
    ])
    func `A custom text in a URL is hidden however it is encoded`(url: String) throws {
        let rig = TrafficRig(redaction: .none.hiding(texts: ["correct horse!", "café"]))
        rig.get(url)
        try rig.recorder.record(to: "traffic.json")
        for text in [try rig.text(), rig.archive, rig.recorder.entries[0].url] {
            #expect(!text.contains("horse") && !text.contains("orse!") && !text.lowercased().contains("caf%"))
        }
    }

    @Test func `Custom names and texts are hidden, and excepted names are shown`() throws {
        let redaction = Redaction.standard.hiding(names: ["I-Ban"], texts: ["s3cr&t", "1234", ""]).showing(names: ["page_token"])
        let rig = TrafficRig(redaction: redaction)
        rig.post(
            #"{"iban": "DE00", "note": "it is s3cr&t", "pin": 1234, "s3cr&t": 1, "pageToken": "p", "token": "t"}"#,
            to: "https://a.example/s3cr%26t?x=s3cr%26t")
        let entry = try #require(try rig.written().first)
        #expect(
            entry["body"] == [
                "iban": "<redacted>", "note": "it is <redacted>", "pin": "<redacted>", "<redacted>": 1, "pageToken": "p",
                "token": "<redacted>",
            ])
        #expect(entry["url"] == "https://a.example/<redacted>")
        #expect(entry["parameters"] == ["x": "<redacted>"])
        #expect(!rig.archive.contains("s3cr"))
    }

    @Test func `A recorder without redaction hides nothing`() throws {
        let rig = TrafficRig(redaction: .none)
        rig.recorder.record(Self.requests[10])
        try rig.recorder.record(to: "traffic.json")
        #expect(try rig.text().contains("hunter2"))
        let other = #"[{"url": "https://.*", "body": {"a": [{"refresh_token": "other"}]}}]"#
        #expect(try rig.paths(other) == ["body.a[0].refresh_token"])
    }

    @Test(arguments: [
        "auth_key", "channel_name", "author", "socket_id", "token_type", "tokenizer", "keyboard", "signal", "passage",
    ])
    func `A field whose name only resembles a secret's is shown`(name: String) throws {
        rig.post(#"{"\#(name)": "value"}"#)
        #expect(rig.recorder.entries.first?.json("body") == #"{"\#(name)":"value"}"#)
    }

    @Test func `A yes or no under a secret's name is shown and compared`() throws {
        rig.post(#"{"pass": true}"#)
        #expect(rig.recorder.entries.first?.json("body") == #"{"pass":true}"#)
        #expect(try rig.paths(#"[{"url": "https://.*", "body": {"pass": false}}]"#) == ["body.pass"])
    }
}
