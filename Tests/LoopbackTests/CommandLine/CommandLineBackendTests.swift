#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// The commands that act as an app's backend.
@Suite(.serialized) struct CommandLineBackendTests {
    /// Runs a command to its end.
    private func run(
        _ arguments: [String], _ environment: [String: String] = [:], input: String? = nil
    ) async throws -> (end: Command.End?, output: [String], errors: [String]) {
        let file = try input.map { text in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("input-\(UUID())")
            try Data(text.utf8).write(to: file)
            return file
        }
        defer { if let file { try? FileManager.default.removeItem(at: file) } }
        let command = try Command(arguments, environment: environment, input: file?.path ?? "/dev/null")
        let end = await command.end()
        return (end, await command.output.toEnd(), await command.errors.toEnd())
    }

    @Test func `The trigger command publishes to several channels and prints their attributes`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let run = try await run(
                [
                    "trigger", "news", "headline", "text", "--channel", "cache-b", "--socket-id", "1.2", "--info",
                    "subscription_count,cache",
                ], server.environment)
            #expect(run.end == .exit(0), "\(run.errors)")
            #expect(
                run.output == [
                    #"{"channel":"news","subscription_count":0}"#,
                    #"{"cache":"text","channel":"cache-b","subscription_count":0}"#,
                ])
            let body = try #require(server.requests.first?.json)
            #expect(body["channels"] == ["news", "cache-b"])
            #expect(body["socket_id"] == "1.2")
            await server.stop()
        }
    }

    @Test(arguments: [
        (["trigger", "news", "e", "text", "--info", "subscription_count,cache"], "{}", "subscription_count, cache", 1),
        (["trigger", "a", "e", "b", "--info", "cache"], #"{"channels":{"a":{"subscription_count":0}}}"#, "cache", 1),
        (["channels", "news", "--info", "subscription_count"], #"{"occupied":true}"#, "subscription_count", 1),
        (["channels", "--info", "cache"], #"{"channels":{"news":{}}}"#, "cache", 1),
        (["channels", "--info", "cache"], #"{"channels":{}}"#, nil, 0),
    ])
    func `A command names the requested attributes that the server's response lacks`(
        arguments: [String], response: String, missing: String?, lines: Int
    ) async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            server.stub(RequestMatcher(where: { _ in true }), StubResponse(text: response))
            let run = try await run(arguments, server.environment)
            #expect(run.end == .exit(0))
            #expect(run.output.count == lines)
            let reasons = ": the channels have none, or this server doesn't tell, or its app must allow it"
            #expect(run.errors == (missing.map { ["the server gave no \($0)\(reasons)"] } ?? []))
            await server.stop()
        }
    }

    /// soketi sends its refusals so.
    @Test(arguments: [
        ["trigger", "news", "headline", "text"], ["trigger", "--batch"], ["terminate", "ann"], ["channels"],
        ["channels", "news"],
        ["users", "presence-a"],
    ])
    func `An error in a response with a success status makes a command fail`(arguments: [String]) async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            server.stub(
                RequestMatcher(where: { _ in true }), StubResponse(text: #"{"error":"The app 1 could not be found.","code":404}"#)
            )
            let run = try await run(arguments, server.environment, input: #"{"channel":"a","event":"e"}"#)
            #expect(run.end == .exit(1))
            #expect(run.output == [])
            #expect(run.errors.last?.contains("error 404: \"The app 1 could not be found.\"") == true, "\(run.errors)")
            await server.stop()
        }
    }

    /// The digest of a body isn't used for security, but the protocol requires it.
    @Test func `The trigger command publishes on a system that allows FIPS cryptography only`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("fips-\(UUID()).cnf")
            defer { try? FileManager.default.removeItem(at: file) }
            let configuration = "openssl_conf = a\n[a]\nalg_section = b\n[b]\ndefault_properties = fips=yes\n"
            try Data(configuration.utf8).write(to: file)
            let environment = server.environment.merging(["OPENSSL_CONF": file.path]) { $1 }
            let run = try await run(["trigger", "news", "headline", "text"], environment)
            #expect(run.end == .exit(0), "\(run.errors)")
            await server.stop()
        }
    }

    @Test func `The trigger command gives up when the time of --timeout is over`() async throws {
        try await withWatchdog {
            let server = try RawServer { _ = $0.readRest() }
            let arguments = ["trigger", "a", "e", "d", "--port", String(server.port), "--timeout", "0.1"]
            let run = try await run(arguments)
            #expect(run.end == .exit(1))
            #expect(run.errors.last?.hasSuffix("within 0.1 s; the request may have been carried out") == true, "\(run.errors)")
        }
    }

    @Test func `The trigger command publishes the lines of a batch ten at a time`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let lines = (1...12).map { #"{"channel":"c-\#($0)","event":"e","data":{"n":\#($0)},"info":"subscription_count"}"# }
            let run = try await run(
                ["trigger", "--batch"], server.environment, input: "\u{FEFF}" + lines.joined(separator: "\n\n"))
            #expect(run.end == .exit(0), "\(run.errors)")
            #expect(run.output == (1...12).map { #"{"channel":"c-\#($0)","subscription_count":0}"# })
            #expect(server.requests.map { $0.json?["batch"]?.arrayValue?.count } == [10, 2])
            #expect(server.requests.first?.json?["batch"]?.arrayValue?.first?["data"] == #"{"n":1}"#)
            await server.stop()
        }
    }

    /// The exit status must not be the one for "nothing was done", because a retry would publish the first ten events twice.
    @Test func `The trigger command says how many events of a batch it published before a failure`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            server.stub(RequestMatcher(where: { $0.json?["batch"]?.arrayValue?.count == 2 }), .http(429))
            let lines = (1...12).map { #"{"channel":"c-\#($0)","event":"e"}"# }
            let run = try await run(["trigger", "--batch"], server.environment, input: lines.joined(separator: "\n"))
            #expect(run.end == .exit(1), "\(run.errors)")
            #expect(
                run.errors.last?.hasSuffix("; the first 10 events were published before, and none after them") == true,
                "\(run.errors)")
            await server.stop()
        }
    }

    /// A request publishes all of its events or none, so whoever sends all of it again after such an end publishes no event twice.
    @Test func `The trigger command says whether any event of a failed batch may have been published`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let event = #"{"channel":"a","event":"e"}"#
            func errors(_ input: String, status: Int32) async throws -> String {
                let run = try await run(["trigger", "--batch"], server.environment, input: input)
                #expect(run.end == .exit(status), "\(run.errors)")
                return run.errors.last ?? ""
            }
            #expect(try await errors("\(event)\nnonsense", status: 1).hasSuffix("; nothing was published"))
            let wrongName = #"{"channel":"no such channel","event":"e"}"#
            #expect(try await errors("\(event)\n\(wrongName)", status: 1).hasSuffix("; nothing was published"))
            #expect(server.requests.isEmpty)
            server.stub(RequestMatcher(where: { _ in true }), .http(429))
            #expect(try await errors("\(event)\n\(event)", status: 75).hasSuffix("; nothing was published"))
            server.stub(RequestMatcher(where: { _ in true }), .http(502))
            let end = "; either all or none of the next 2 may have been published"
            #expect(try await errors("\(event)\n\(event)", status: 1).hasSuffix(end))
            #expect(try await errors(event, status: 1).hasSuffix("; the next one may have been published"))
            await server.stop()
        }
    }

    @Test func `A command whose output can't be written says so and fails`() async throws {
        try await withWatchdog {
            let arguments = ["auth", "sign", "private-a", "--socket-id", "1.2"]
            let command = try Command(
                program: "/bin/sh", ["-c", #"exec "$0" "$@" >/dev/full"#, Command.program()] + arguments,
                environment: ["PUSHER_CONFIG": "/dev/null"])
            #expect(await command.end() == .exit(1))
            let errors = await command.errors.toEnd()
            #expect(errors.count == 1)
            #expect(errors.first?.hasPrefix("Error: the output can't be written: ") == true)
        }
    }

    @Test func `The channels and users commands list channels and users, and terminate disconnects a user`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let listen = try Command(
                ["listen", "presence-a", "news", "--user-id", "ann"],
                environment: server.environment)
            // The two subscriptions may succeed in either order.
            for _ in 1...2 { try await listen.errors.next(containing: "subscribed to") }
            func output(_ arguments: String...) async throws -> [String] {
                try await run(arguments, server.environment).output
            }
            #expect(try await output("channels") == [#"{"channel":"news"}"#, #"{"channel":"presence-a"}"#])
            #expect(
                try await output("channels", "--prefix", "presence-", "--info", "user_count")
                    == [#"{"channel":"presence-a","user_count":1}"#])
            #expect(
                try await output("channels", "news", "none", "--info", "subscription_count") == [
                    #"{"channel":"news","occupied":true,"subscription_count":1}"#,
                    #"{"channel":"none","occupied":false,"subscription_count":0}"#,
                ])
            #expect(try await output("users", "presence-a") == ["ann"])
            #expect(try await run(["terminate", "ann"], server.environment).end == .exit(0))
            #expect(server.requests.last?.path == "/apps/1/users/ann/terminate_connections")
            listen.signal(SIGINT)
            _ = await listen.end()
            await server.stop()
        }
    }

    /// The vectors of the protocol's documentation; the presence one recomputed with
    /// `printf '1234.1234:presence-foobar:{"user_id":"10","user_info":{"name":"Mr. Channels"}}' | openssl dgst -sha256 -hmac …`.
    @Test(arguments: [
        (
            ["private-foobar"],
            #"{"auth":"278d425bdf160c739803:58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"}"#
        ),
        (
            ["--user-id", "12345"],
            #"{"auth":"278d425bdf160c739803:4708d583dada6a56435fb8bc611c77c359a31eebde13337c16ab43aa6de336ba","#
                + #""user_data":"{\"id\":\"12345\"}"}"#
        ),
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
    func `The auth sign command makes the signatures of the protocol's documentation`(arguments: [String], reply: String)
        async throws
    {
        try await withWatchdog {
            let environment = ["PUSHER_KEY": "278d425bdf160c739803", "PUSHER_SECRET": "7ad3773142a6692b25b8"]
            let run = try await run(["auth", "sign", "--socket-id", "1234.1234"] + arguments, environment)
            #expect(run.end == .exit(0), "\(run.errors)")
            #expect(run.output == [reply])
        }
    }

    @Test func `The auth sign command prints an encrypted channel's shared secret`() async throws {
        try await withWatchdog {
            let key = Data(repeating: 7, count: 32).base64EncodedString()
            let run = try await run(
                ["auth", "sign", "private-encrypted-a", "--socket-id", "1.2"], ["PUSHER_ENCRYPTION_MASTER_KEY": key])
            let secret = try #require(SharedSecret.derived(for: "private-encrypted-a", masterKey: key)).base64
            #expect(try JSONValue(parsing: run.output.joined())["shared_secret"] == .string(secret))
        }
    }

    /// The app of `serve` has a master key, and its secret is known, too.
    @Test func `The auth sign command needs no master key for an encrypted channel of serve's app`() async throws {
        try await withWatchdog {
            let secret = try #require(
                SharedSecret.derived(for: "private-encrypted-a", masterKey: ServerApp.local.encryptionMasterKey ?? ""))
            let run = try await run(["auth", "sign", "private-encrypted-a", "--socket-id", "1.2"])
            #expect(try JSONValue(parsing: run.output.joined())["shared_secret"] == .string(secret.base64))
        }
    }

    /// Everybody knows the secret of `serve`'s app: with it, anybody could forge another app's webhooks.
    @Test(arguments: [
        ["webhook", "verify", "--signature", "00"], ["auth", "sign", "private-a", "--socket-id", "1.2"], ["channels"],
        ["trigger", "a", "e", "d"],
    ])
    func `A command doesn't use the well-known secret of serve's app with another app's key`(arguments: [String]) async throws {
        try await withWatchdog {
            let run = try await run(arguments, ["PUSHER_KEY": "prod", "PUSHER_SECRET": ""])
            #expect(run.end == .exit(64), "\(run.errors)")
            #expect(run.errors.first?.contains("the key prod isn't that of serve's app") == true, "\(run.errors)")
            #expect(run.output.isEmpty)
        }
    }

    @Test func `The --path option puts the HTTP API's requests under a path`() async throws {
        try await withWatchdog {
            let server = try RawServer.replying(.text("HTTP/1.1 200 x\r\nContent-Length: 15\r\n\r\n{\"channels\":{}}"))
            let run = try await run(["channels", "--port", String(server.port), "--path", "realtime"])
            #expect(run.end == .exit(0), "\(run.errors)")
            #expect(server.requests.all.first?.hasPrefix("GET /realtime/apps/1/channels?") == true)
        }
    }

    /// The signature as the protocol defines it: HMAC-SHA256 of the body with the secret `s3cret`.
    @Test(arguments: [
        ("0aebb45162ff17f38610bcba74b60e746cc02ffe4a081e513f313e55d7365bca", true), (String(repeating: "0", count: 64), false),
    ])
    func `The webhook verify command prints a genuine webhook's events and refuses a forged one`(
        signature: String, isGenuine: Bool
    ) async throws {
        try await withWatchdog {
            let run = try await run(
                ["webhook", "verify", "--signature", signature, "--any-time"], ["PUSHER_KEY": "k", "PUSHER_SECRET": "s3cret"],
                input: #"{"time_ms":1700000000000,"events":[{"name":"channel_occupied","channel":"a"}]}"#)
            #expect(run.end == .exit(isGenuine ? 0 : 1))
            #expect(run.output == (isGenuine ? [#"{"channel":"a","name":"channel_occupied"}"#] : []))
            #expect(isGenuine || run.errors.last?.contains("signature is wrong") == true, "\(run.errors)")
        }
    }

    /// An event that the library doesn't know is printed unchanged, except for the white space between its tokens.
    @Test func `The webhook verify command prints an event of several lines on one line`() async throws {
        try await withWatchdog {
            let event = "{\n\t\"name\": \"brand_new\",\n    \"n\": 1.10\n  }"
            let run = try await run(
                [
                    "webhook", "verify", "--any-time", "--signature",
                    "db2fb017fbe7bff163bd6d25c4a714cabed59778d5cce612dd9dbc5d68803b31",
                ], ["PUSHER_KEY": "k", "PUSHER_SECRET": "s3cret"],
                input: "{\"time_ms\":1700000000000,\"events\":[\r\n  \(event)\n]}")
            #expect(run.end == .exit(0), "\(run.errors)")
            #expect(run.output == [#"{  "name": "brand_new",     "n": 1.10   }"#])
        }
    }

    @Test(arguments: [
        ["trigger", "a", "e", "d"], ["channels"], ["users", "presence-a"], ["terminate", "ann"],
    ])
    func `A command asks a cluster's HTTP API through the proxy of --proxy`(arguments: [String]) async throws {
        try await withWatchdog {
            let requests = Note<String>()
            let proxy = try RawServer { connection in
                requests.send(try connection.readRequest())
                try connection.send("HTTP/1.1 403 Forbidden\r\n\r\n")
            }
            let command = try Command(
                arguments + ["--proxy", "http://127.0.0.1:\(proxy.port)"],
                environment: ["PUSHER_CLUSTER": "nowhere", "PUSHER_SECRET": "s3cret"])
            let request = try #require(await requests.next())
            #expect(request.hasPrefix("CONNECT api-nowhere.pusher.com:443 HTTP/1.1\r\n"))
            // A retry doesn't help against a proxy that refuses.
            #expect(await command.end() == .exit(1))
            #expect(!(await command.errors.toEnd()).contains { $0.contains("s3cret") })
        }
    }

    @Test func `The channels command trusts the certificate authority of --ca-file`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(tls: .throwaway)
            let file = try #require(server.certificateAuthority).file().path
            var environment = server.environment
            environment["SSL_CERT_FILE"] = nil
            // A later attempt can't succeed unless somebody changes something.
            #expect(try await run(["channels"], environment).end == .exit(1))
            #expect(try await run(["channels", "--ca-file", file], environment).end == .exit(0))
            await server.stop()
        }
    }

    /// A user ID must not be able to move a terminal's cursor.
    @Test func `Control characters in a server's response are escaped in a command's output`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            server.stub("GET /apps/1/channels/presence-a/users", .json(["users": [["id": "a\u{1B}[2J\nb"]]]))
            server.stub("GET /apps/1/channels/presence-b/users", StubResponse(status: 400, text: "c\u{1B}[2J\nd"))
            #expect(try await run(["users", "presence-a"], server.environment).output == [#"a\u{1b}[2J\u{a}b"#])
            let refused = try await run(["users", "presence-b"], server.environment)
            #expect(refused.end == .exit(1))
            #expect(refused.errors.count == 1 && refused.errors.first?.contains("\u{1B}") == false, "\(refused.errors)")
            await server.stop()
        }
    }

    @Test(arguments: [
        ["trigger", "a", "e"], ["trigger", "a", "--batch"], ["trigger", "a", "e", "d", "--info", "size"],
        ["trigger", "a", "e", "d", "--host", "h", "--cluster", "eu"], ["channels", "a", "--prefix", "b"], ["users"],
        ["auth", "sign", "private-a"], ["auth", "sign", "presence-a", "--socket-id", "1.2"],
        ["auth", "sign", "private-a", "--socket-id", "1.2", "--user-id", "ann"],
        ["auth", "sign", "--socket-id", "1.2", "--user-id", "ann", "--user-info", "[]"], ["webhook", "verify"],
        ["channels", "--encryption-master-key", "short"], ["users", "presence-a", "--timeout", "0"],
    ])
    func `A backend command refuses missing, contradictory, and unusable arguments with status 64`(arguments: [String])
        async throws
    {
        try await withWatchdog {
            let run = try await run(arguments)
            #expect(run.end == .exit(64), "\(run.errors)")
            #expect(run.output == [])
        }
    }

    /// The error uses the command's terms, not the library's.
    @Test(arguments: [
        ["--info", "user_count"], ["--info", "cache,user_count", "--prefix", "pre"], ["news", "--info", "user_count"],
        ["presence-a", "news", "--info", "user_count"],
    ])
    func `The channels command counts the users of presence channels only`(arguments: [String]) async throws {
        try await withWatchdog {
            let run = try await run(["channels"] + arguments)
            #expect(run.end == .exit(64))
            #expect(
                run.errors.first == "Error: --info user_count takes presence channels, or a --prefix that begins with presence-")
        }
    }
}
#endif
