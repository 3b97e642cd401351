#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// The commands that act as an app's backend.
@Suite(.serialized) struct CommandLineBackendTests {
    @Test func `The trigger command publishes to several channels and prints their attributes`() async throws {
        try await withServer { server in
            let run = try await server.run(
                "trigger news headline text --channel cache-b --socket-id 1.2 --info subscription_count,cache")
            let lines = [
                #"{"channel":"news","subscription_count":0}"#, #"{"cache":"text","channel":"cache-b","subscription_count":0}"#,
            ]
            #expect(run == Command.Run(output: lines))
            let body = try #require(server.requests.first?.json)
            #expect(body["channels"] == ["news", "cache-b"])
            #expect(body["socket_id"] == "1.2")
        }
    }

    @Test(arguments: [
        ("trigger news e text --info subscription_count,cache", "{}", "subscription_count, cache", 1),
        ("trigger a e b --info cache", #"{"channels":{"a":{"subscription_count":0}}}"#, "cache", 1),
        ("channels news --info subscription_count", #"{"occupied":true}"#, "subscription_count", 1),
        ("channels --info cache", #"{"channels":{"news":{}}}"#, "cache", 1),
        ("channels --info cache", #"{"channels":{}}"#, nil, 0),
    ])
    func `A command names the requested attributes that the server's response lacks`(
        line: String, response: String, missing: String?, count: Int
    ) async throws {
        try await withServer { server in
            server.stub(.any, StubResponse(text: response))
            let run = try await server.run(line)
            #expect(run.end == .exit(0) && run.output.count == count)
            let reasons = ": the channels have none, or this server doesn't tell, or its app must allow it"
            #expect(run.errors == (missing.map { ["the server gave no \($0)\(reasons)"] } ?? []))
        }
    }

    @Test(arguments: [
        (
            ["no such channel"], Int32(64),
            #"a channel name can't contain " ": letters, digits and _ - = @ , . ; are allowed: "no such channel""#
        ),
        (["--app-id", "9", "news"], 1, "the HTTP API answered with status 404: "),
        // soketi sends its refusals so.
        (["soketi"], 1, "the HTTP API answered with status 200 and error 404: \"The app 1 could not be found.\""),
    ])
    func `The trigger command says in one line why an event is refused`(
        arguments: [String], status: Int32, reason: String
    ) async throws {
        try await withServer { server in
            server.stub(
                RequestMatcher(where: { $0.json?["channels"] == ["soketi"] }),
                StubResponse(text: #"{"error":"The app 1 could not be found.","code":404}"#))
            let run = try await Command.run(["trigger"] + arguments + ["headline", "{}"], server.environment)
            #expect(run.failed(status, reason) && run.output == [] && run.errors.count == 1, "\(run)")
        }
    }

    /// The digest of a body isn't used for security, but the protocol requires it.
    @Test func `The trigger command publishes on a system that allows FIPS cryptography only`() async throws {
        try await withServer { server in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("fips-\(UUID()).cnf")
            defer { try? FileManager.default.removeItem(at: file) }
            let configuration = "openssl_conf = a\n[a]\nalg_section = b\n[b]\ndefault_properties = fips=yes\n"
            try Data(configuration.utf8).write(to: file)
            let environment = server.environment.merging(["OPENSSL_CONF": file.path]) { $1 }
            let run = try await Command.run("trigger news headline text", environment: environment)
            #expect(run.end == .exit(0), "\(run.errors)")
        }
    }

    @Test func `The trigger command gives up when the time of --timeout is over`() async throws {
        let server = try RawServer { _ = $0.readRest() }
        let run = try await Command.run("trigger a e d --timeout 0.1 --port \(server.port)")
        #expect(run.failed(1, "", "within 0.1 s; the request may have been carried out"), "\(run)")
    }

    // MARK: Batches

    @Test func `The trigger command publishes the lines of a batch ten at a time`() async throws {
        try await withServer { server in
            let lines = (1...12).map { #"{"channel":"c-\#($0)","event":"e","data":{"n":\#($0)},"info":"subscription_count"}"# }
            let run = try await server.run("trigger --batch", input: "\u{FEFF}" + lines.joined(separator: "\n\n"))
            #expect(run == Command.Run(output: (1...12).map { #"{"channel":"c-\#($0)","subscription_count":0}"# }))
            #expect(server.requests.map { $0.json?["batch"]?.arrayValue?.count } == [10, 2])
            #expect(server.requests.first?.json?["batch"]?.arrayValue?.first?["data"] == #"{"n":1}"#)
        }
    }

    /// The exit status must not be the one for "nothing was done" if a retry would publish the first ten events twice.
    @Test func `The trigger command says what was and what may have been published when a batch fails`() async throws {
        try await withServer { server in
            let event = #"{"channel":"a","event":"e"}"#
            func expectError(_ ending: String, status: Int32 = 1, for lines: [String]) async throws {
                let run = try await server.run("trigger --batch", input: lines.joined(separator: "\n"))
                #expect(run.failed(status, "", ending), "\(run)")
            }
            try await expectError("; nothing was published", for: [event, "nonsense"])
            try await expectError("; nothing was published", for: [event, #"{"channel":"no such channel","event":"e"}"#])
            #expect(server.requests.isEmpty)
            server.stub(RequestMatcher(where: { $0.json?["batch"]?.arrayValue?.count == 2 }), .http(429))
            try await expectError("; nothing was published", status: 75, for: [event, event])
            let end = "; the first 10 events were published before, and none after them"
            try await expectError(end, for: Array(repeating: event, count: 12))
            let bad = "; of the next 3, only Sockudo publishes those before the one that it refuses"
            server.stub(RequestMatcher(where: { $0.json?["batch"]?.arrayValue?.count == 3 }), .http(400))
            try await expectError(bad, for: Array(repeating: event, count: 3))
            server.stub(.any, .http(502))
            try await expectError("; the next 2 may have been published", for: [event, event])
            try await expectError("; the next one may have been published", for: [event])
        }
    }

    // MARK: Questions

    @Test func `The commands about channels and users ask, send to, and disconnect those of the server`() async throws {
        try await withServer { server in
            let listen = try Command(["listen", "presence-a", "news", "--user-id", "ann"], environment: server.environment)
            // The two subscriptions may succeed in either order.
            for _ in 1...2 { try await listen.errors.next(containing: "subscribed to") }
            for (line, output) in [
                ("channels", [#"{"channel":"news"}"#, #"{"channel":"presence-a"}"#]),
                ("channels --prefix presence- --info user_count", [#"{"channel":"presence-a","user_count":1}"#]),
                (
                    "channels news none --info subscription_count",
                    [
                        #"{"channel":"news","occupied":true,"subscription_count":1}"#,
                        #"{"channel":"none","occupied":false,"subscription_count":0}"#,
                    ]
                ),
                ("users presence-a", ["ann"]), ("send-to-user ann note text", []),
            ] as [(String, [String])] {
                #expect(try await server.run(line) == Command.Run(output: output))
            }
            #expect(server.requests.last?.json?["channels"] == ["#server-to-user-ann"])
            #expect(try await server.run("terminate ann") == Command.Run())
            #expect(server.requests.last?.path == "/apps/1/users/ann/terminate_connections")
            server.stub("GET /realtime/apps/1/channels", StubResponse(text: #"{"channels":{"under-a-path":{}}}"#))
            #expect(try await server.run("channels --path realtime").output == [#"{"channel":"under-a-path"}"#])
            listen.signal(SIGINT)
            _ = await listen.end()
        }
    }

    /// A user ID must not be able to move a terminal's cursor.
    @Test func `Control characters in a server's response are escaped in a command's output`() async throws {
        try await withServer { server in
            server.stub("GET /apps/1/channels/presence-a/users", .json(["users": [["id": "a\u{1B}[2J\nb"]]]))
            server.stub("GET /apps/1/channels/presence-b/users", StubResponse(status: 400, text: "c\u{1B}[2J\nd"))
            #expect(try await server.run("users presence-a").output == [#"a\u{1b}[2J\u{a}b"#])
            let refused = try await server.run("users presence-b")
            #expect(refused.end == .exit(1))
            #expect(refused.errors.count == 1 && refused.errors.first?.contains("\u{1B}") == false, "\(refused.errors)")
        }
    }

    @Test func `A command asks a cluster's HTTP API through the proxy of --proxy`() async throws {
        let proxy = try RawServer.replying(.text("HTTP/1.1 403 Forbidden\r\n\r\n"), then: .finish)
        let environment = ["PUSHER_CLUSTER": "nowhere", "PUSHER_SECRET": "s3cret"]
        let run = try await Command.run("channels --proxy http://127.0.0.1:\(proxy.port)", environment: environment)
        #expect(proxy.requests.all.first?.hasPrefix("CONNECT api-nowhere.pusher.com:443 HTTP/1.1\r\n") == true)
        // A retry doesn't help against a proxy that refuses.
        #expect(run.end == .exit(1))
        #expect(!run.errors.contains { $0.contains("s3cret") })
    }

    @Test func `The channels command uses TLS and trusts an authority as the environment or --ca-file says`() async throws {
        var app = ServerApp.local
        app.requiresTLS = true
        try await withServer(apps: [app], tls: .throwaway) { server in
            let file = try #require(server.certificateAuthority).file().path
            var environment = server.environment
            #expect(try await Command.run("channels", environment: environment).end == .exit(0))
            environment["SSL_CERT_FILE"] = nil
            // A later attempt can't succeed unless somebody changes something.
            #expect(try await Command.run("channels", environment: environment).end == .exit(1))
            #expect(try await Command.run("channels --ca-file", file, environment: environment).end == .exit(0))
        }
    }

    // MARK: Without a network

    /// The presence channel's signature is recomputed with
    /// `printf '1234.1234:presence-foobar:{"user_id":"10","user_info":{"name":"Mr. Channels"}}' | openssl dgst -sha256 -hmac …`.
    @Test(arguments: [
        (
            ["presence-foobar", "--user-id", "10", "--user-info", #"{"name":"Mr. Channels"}"#],
            #"{"auth":"278d425bdf160c739803:4c6d8fc42a207ba96a0779844171b0bb819d96ffceef9609f5cce596ab17a800","#
                + #""channel_data":"{\"user_id\":\"10\",\"user_info\":{\"name\":\"Mr. Channels\"}}"}"#
        ),
        // Numbers keep their digits: `printf '1234.1234::user::{"id":"10","user_info":{"n":[12345678901234567890,1.50]}}' | …`.
        (
            ["--user-id", "10", "--user-info", #"{"n": [12345678901234567890, 1.50]}"#],
            #"{"auth":"278d425bdf160c739803:e3f92b9f2081cb1609bc99b7d26daca0c920da42d59648152c154befba566afd","#
                + #""user_data":"{\"id\":\"10\",\"user_info\":{\"n\":[12345678901234567890,1.50]}}"}"#
        ),
    ])
    func `The auth sign command signs for a member of a presence channel, and for a user`(arguments: [String], reply: String)
        async throws
    {
        let environment = ["PUSHER_KEY": "278d425bdf160c739803", "PUSHER_SECRET": "7ad3773142a6692b25b8"]
        let run = try await Command.run(["auth", "sign", "--socket-id", "1234.1234"] + arguments, environment)
        #expect(run == Command.Run(output: [reply]))
    }

    @Test(arguments: [Data(repeating: 7, count: 32).base64EncodedString(), nil])
    func `The auth sign command derives an encrypted channel's secret from the given master key or that of serve's app`(
        given: String?
    ) async throws {
        let key = try #require(given ?? ServerApp.local.encryptionMasterKey)
        let secret = try #require(SharedSecret.derived(for: "private-encrypted-a", masterKey: key))
        let environment = given.map { ["PUSHER_ENCRYPTION_MASTER_KEY": $0] } ?? [:]
        let run = try await Command.run("auth sign private-encrypted-a --socket-id 1.2", environment: environment)
        #expect(try JSONValue(parsing: run.output.joined())["shared_secret"] == .string(secret.base64))
    }

    private static let occupied = #"{"time_ms":1700000000000,"events":[{"name":"channel_occupied","channel":"a"}]}"#

    /// The signatures as the protocol defines them: HMAC-SHA256 of the body with the secret `s3cret`. An event that the library
    /// doesn't know is printed unchanged, except for the white space between its tokens.
    @Test(
        arguments: [
            (
                "0aebb45162ff17f38610bcba74b60e746cc02ffe4a081e513f313e55d7365bca", occupied,
                [#"{"channel":"a","name":"channel_occupied"}"#]
            ),
            (
                "db2fb017fbe7bff163bd6d25c4a714cabed59778d5cce612dd9dbc5d68803b31",
                "{\"time_ms\":1700000000000,\"events\":[\r\n  {\n\t\"name\": \"brand_new\",\n    \"n\": 1.10\n  }\n]}",
                [#"{  "name": "brand_new",     "n": 1.10   }"#]
            ), (String(repeating: "0", count: 64), occupied, []),
        ] as [(String, String, [String])])
    func `The webhook verify command prints each event of a genuine webhook on one line, and refuses a forged one`(
        signature: String, body: String, lines: [String]
    ) async throws {
        let run = try await Command.run(
            "webhook verify --any-time --signature \(signature)", environment: ["PUSHER_KEY": "k", "PUSHER_SECRET": "s3cret"],
            input: body)
        #expect(run.end == .exit(lines.isEmpty ? 1 : 0) && run.output == lines, "\(run)")
        #expect(!lines.isEmpty || run.errors.last?.contains("signature is wrong") == true, "\(run.errors)")
    }
}
#endif
