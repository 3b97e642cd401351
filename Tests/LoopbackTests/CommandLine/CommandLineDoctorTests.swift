#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// `pusher-channels doctor` as a user runs it: the step that it reports as failed, and its exit status.
@Suite(.serialized) struct CommandLineDoctorTests {
    private struct Run {
        let end: Command.End?
        let steps: [[String: String]]
        let text: String

        /// Returns the steps with this result, in order.
        func steps(_ result: String) -> [String] {
            steps.filter { $0["result"] == result }.compactMap { $0["step"] }
        }

        /// The steps that were measured.
        var measured: [String] { steps.filter { $0["milliseconds"].flatMap(Double.init) != nil }.compactMap { $0["step"] } }

        var failure: [String: String]? { steps.first { $0["result"] == "failed" } }
    }

    private func doctor(_ arguments: [String]) async throws -> Run {
        let command = try Command(["doctor", "--json"] + arguments, environment: ["PUSHER_SECRET": ""])
        let end = await command.end()
        let output = await command.output.toEnd()
        let errors = await command.errors.toEnd()
        let objects = try output.map { try JSONValue(parsing: $0).objectValue ?? [:] }
        let steps = objects.map { object in
            Dictionary(uniqueKeysWithValues: object.compactMap { key, value in value.identifier.map { (key.text, $0) } })
        }
        return Run(end: end, steps: steps, text: (output + errors).joined(separator: "\n"))
    }

    /// Starts a server with TLS; returns it with its port, its endpoint's base URL and its authority's file.
    private func server() async throws -> (server: LocalServer, port: String, endpoint: String, file: String) {
        let server = try await LocalServer.start(tls: .throwaway)
        let port = String(try #require(server.url.port))
        let file = try #require(server.certificateAuthority).file().path
        return (server, port, "https://127.0.0.1:\(port)", file)
    }

    @Test func `The doctor reports every step to a healthy server as ok, with its time`() async throws {
        try await withWatchdog {
            let (server, port, endpoint, file) = try await server()
            let run = try await doctor([
                "127.0.0.1", "--tls", "--port", port, "--ca-file", file, "--auth-endpoint", endpoint + "/pusher/auth",
            ])
            #expect(run.end == .exit(0), "\(run.text)")
            #expect(run.steps("skipped") == ["proxy"])
            #expect(
                run.steps("ok") == [
                    "options", "name", "address", "tcp", "tls", "upgrade", "protocol", "authorization", "subscription",
                ])
            #expect(run.measured == ["name", "tcp", "tls", "upgrade", "protocol", "authorization", "subscription"])
            await server.stop()
        }
    }

    @Test func `The doctor skips the steps that its options don't ask for`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(apps: [ServerApp(id: "1", key: "k", secret: "s")])
            let run = try await doctor(["--port", String(try #require(server.url.port)), "--key", "k"])
            #expect(run.end == .exit(0), "\(run.text)")
            #expect(run.steps("skipped") == ["proxy", "tls", "authorization", "subscription"])
            await server.stop()
        }
    }

    /// As with `listen`, the secret and the master key of the server's app are known.
    @Test(arguments: ["private-a", "presence-a", "private-encrypted-a"])
    func `The doctor needs no secret for the private channels of serve's app`(channel: String) async throws {
        try await withWatchdog {
            let (server, port) = try await Command.server()
            let run = try await doctor(["--port", String(port), "--channel", channel])
            #expect(run.end == .exit(0), "\(run.text)")
            #expect(run.steps("skipped") == ["proxy", "tls"])
            withExtendedLifetime(server) {}
        }
    }

    @Test func `The doctor fails at the name step if the host has no address`() async throws {
        try await withWatchdog {
            let run = try await doctor(["nobody.invalid"])
            #expect(run.end == .exit(75), "\(run.text)")
            #expect(run.failure?["step"] == "name", "\(run.text)")
            #expect(run.steps("ok") == ["options"])
            #expect(run.steps("untested").first == "address")
        }
    }

    @Test func `The doctor fails at the tcp step if nothing listens on the port`() async throws {
        try await withWatchdog {
            let refusing = try RawServer.refusingPort()
            defer { close(refusing.descriptor) }
            let run = try await doctor(["127.0.0.1", "--port", String(refusing.port)])
            #expect(run.end == .exit(75), "\(run.text)")
            #expect(run.failure?["step"] == "tcp", "\(run.text)")
            #expect(run.failure?["advice"]?.contains("that the server is running") == true, "\(run.text)")
            #expect(run.measured == ["name", "tcp"])
        }
    }

    @Test func `The doctor fails at the tls step if the server's authority isn't trusted`() async throws {
        try await withWatchdog {
            let (server, port, _, _) = try await server()
            let run = try await doctor(["--tls", "--port", port])
            #expect(run.end == .exit(1), "\(run.text)")
            #expect(run.failure?["step"] == "tls", "\(run.text)")
            #expect(run.failure?["advice"]?.contains("--ca-file") == true, "\(run.text)")
            #expect(run.steps("ok") == ["options", "name", "address", "tcp"])
            await server.stop()
        }
    }

    @Test func `The doctor fails at the tls step if the server speaks no TLS, and advises --no-tls`() async throws {
        try await withWatchdog {
            let (server, port) = try await Command.server()
            let run = try await doctor(["--tls", "--port", String(port)])
            #expect(run.failure?["step"] == "tls", "\(run.text)")
            #expect(run.failure?["advice"]?.contains("--no-tls") == true, "\(run.text)")
            withExtendedLifetime(server) {}
        }
    }

    @Test func `The doctor fails at the options step if the file of authorities is broken`() async throws {
        try await withWatchdog {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("roots-\(UUID()).pem")
            try Data("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let run = try await doctor(["--tls", "--ca-file", file.path])
            #expect(run.end == .exit(64), "\(run.text)")
            #expect(run.failure?["step"] == "options", "\(run.text)")
            #expect(run.steps("ok") == [])
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n\r\n", ""])
    func `The doctor fails at the upgrade step if the server doesn't speak WebSocket`(reply: String) async throws {
        try await withWatchdog {
            let server = try RawServer { connection in
                _ = try connection.readRequest()
                try connection.send(reply)
            }
            let run = try await doctor(["--port", String(server.port)])
            #expect(run.failure?["step"] == "upgrade", "\(run.text)")
            #expect(run.failure?["advice"]?.contains("must forward upgrades") == true, "\(run.text)")
        }
    }

    @Test func `The doctor fails at the protocol step if the server doesn't know the key`() async throws {
        try await withWatchdog {
            let (server, port) = try await Command.server()
            let run = try await doctor(["--port", String(port), "--key", "wrong"])
            #expect(run.end == .exit(1), "\(run.text)")
            #expect(run.failure?["step"] == "protocol", "\(run.text)")
            #expect(run.failure?["advice"]?.hasPrefix("Check --key") == true, "\(run.text)")
            withExtendedLifetime(server) {}
        }
    }

    /// It asks its clients to come back at once, with an error before the close or without.
    @Test(arguments: [true, false]) func `The doctor fails at the protocol step with status 75 if the server is shutting down`(
        saysSo: Bool
    ) async throws {
        try await withWatchdog {
            let server = try RawServer { connection in
                _ = try connection.upgrade()
                if saysSo {
                    try connection.send(.text(#"{"event":"pusher:error","data":{"code":4200,"message":"Server is closing."}}"#))
                }
                try connection.send(.close(4200, "Server is closing."))
            }
            let run = try await doctor(["--port", String(server.port)])
            #expect(run.end == .exit(75), "\(run.text)")
            #expect(run.failure?["step"] == "protocol", "\(run.text)")
            #expect(run.failure?["detail"]?.contains("Server is closing.") == true, "\(run.text)")
            #expect(run.failure?["advice"]?.hasPrefix("The server asks clients to come back") == true, "\(run.text)")
        }
    }

    /// Sockudo refuses a key in this way.
    @Test func `The doctor advises to check the key if the server hangs up right after the upgrade`() async throws {
        try await withWatchdog {
            let server = try RawServer { _ = try $0.upgrade() }
            let run = try await doctor(["--port", String(server.port), "--key", "wrong"])
            #expect(run.end == .exit(75), "\(run.text)")
            #expect(run.failure?["step"] == "protocol", "\(run.text)")
            #expect(run.failure?["detail"]?.contains("as was the one before") == true, "\(run.text)")
            #expect(run.failure?["advice"]?.hasPrefix("Check --key") == true, "\(run.text)")
        }
    }

    @Test func `The doctor fails at the authorization step if the endpoint refuses`() async throws {
        try await withWatchdog {
            let (server, port, endpoint, file) = try await server()
            server.stub("POST /deny", StubResponse(status: 403, text: "no"))
            let run = try await doctor([
                "--tls", "--port", port, "--ca-file", file, "--auth-endpoint", endpoint + "/deny?token=s3cret",
            ])
            #expect(run.end == .exit(1), "\(run.text)")
            #expect(run.failure?["step"] == "authorization", "\(run.text)")
            #expect(run.failure?["detail"]?.contains("403") == true, "\(run.text)")
            #expect(run.steps("untested") == ["subscription"])
            #expect(!run.text.contains("s3cret"), "\(run.text)")
            await server.stop()
        }
    }

    /// Some servers refuse a subscription by an error about the connection, not about the channel.
    @Test(arguments: [ServerProfile.hosted, .reverb, .poxa, .ipe, .sockudo])
    func `The doctor fails at the subscription step if the secret isn't the app's`(profile: ServerProfile) async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(profile: profile)
            let port = String(try #require(server.url.port))
            let run = try await doctor(["--port", port, "--secret", "s3cret"])
            #expect(run.end == .exit(1), "\(run.text)")
            #expect(run.failure?["step"] == "subscription", "\(run.text)")
            #expect(run.failure?["advice"]?.contains("the app with this key") == true, "\(run.text)")
            #expect(!run.text.contains("s3cret"), "\(run.text)")
            await server.stop()
        }
    }

    @Test func `The doctor fails at the proxy step if the proxy refuses the password`() async throws {
        try await withWatchdog {
            let proxy = try RawServer { connection in
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            }
            let run = try await doctor(["channels.invalid", "--proxy", "http://ann:s3cret@127.0.0.1:\(proxy.port)"])
            #expect(run.end == .exit(1), "\(run.text)")
            #expect(run.failure?["step"] == "proxy", "\(run.text)")
            #expect(run.steps("ok") == ["options", "name", "address", "tcp"])
            #expect(run.measured == ["name", "tcp", "proxy"])
            #expect(!run.text.contains("s3cret"), "\(run.text)")
        }
    }

    @Test(arguments: [
        ["a.example", "--host", "b.example"], ["a.example", "--cluster", "eu"], ["--channel", "news"],
        ["--secret", "s", "--auth-endpoint", "http://127.0.0.1/"],
    ])
    func `The doctor refuses unusable options with status 64 before the first step`(arguments: [String]) async throws {
        try await withWatchdog {
            let run = try await doctor(arguments)
            #expect(run.end == .exit(64), "\(run.text)")
            #expect(run.steps.isEmpty)
        }
    }

    // MARK: Conformance

    /// The features of a server, and those that it hasn't got.
    @Test(arguments: [
        (ServerProfile.hosted, [], []), (.reverb, ["sign in"], ["event to a user", "close a user's connections"]),
    ])
    func `The conformance command names the features that a server lacks`(
        profile: ServerProfile, failed: [String], untested: [String]
    ) async throws {
        try await withWatchdog {
            let server = try await LocalServer.start(profile: profile)
            let command = try Command(
                ["conformance", "--host", "127.0.0.1", "--port", "\(server.port)", "--no-tls", "--json"],
                environment: ["PUSHER_CONFIG": "/dev/null"])
            let rows = try await command.output.toEnd().map { try JSONValue(parsing: $0) }
            #expect(await command.end() == .exit(failed.isEmpty ? 0 : 1))
            func features(_ result: String) -> [String] {
                rows.filter { $0["result"] == .string(result) }.compactMap { $0["feature"]?.stringValue }
            }
            #expect(features("failed") == failed, "\(rows)")
            #expect(features("untested") == untested, "\(rows)")
            #expect(features("ok").count == 18 - failed.count - untested.count, "\(rows)")
            await server.stop()
        }
    }

    @Test func `The conformance command tests webhooks only if it is given a port for them`() async throws {
        try await withWatchdog {
            let (port, descriptor) = try RawServer.refusingPort()
            close(descriptor)
            var app = ServerApp.local
            app.webhooks = [ServerApp.WebhookEndpoint("http://127.0.0.1:\(port)/any/path")]
            let server = try await LocalServer.start(apps: [app])
            func webhooks(_ arguments: String...) async throws -> [String] {
                let command = try Command(
                    ["conformance", "--host", "127.0.0.1", "--port", "\(server.port)", "--no-tls"] + arguments,
                    environment: ["PUSHER_CONFIG": "/dev/null"])
                return await command.output.toEnd().filter { $0.contains("webhooks") }
            }
            #expect(try await webhooks("--webhook-port", "\(port)") == ["ok        webhooks"])
            #expect(try await webhooks() == [])
            await server.stop()
        }
    }

    /// A server that takes events and passes none on.
    @Test func `The conformance command fails a feature that doesn't show within the time of --wait`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            server.stub(RequestMatcher(where: { $0.path.hasSuffix("/events") }), StubResponse(text: "{}"))
            let command = try Command(
                ["conformance", "--host", "127.0.0.1", "--port", "\(server.port)", "--no-tls", "--wait", "0.1"],
                environment: ["PUSHER_CONFIG": "/dev/null"])
            let lines = await command.output.toEnd()
            #expect(await command.end() == .exit(1))
            #expect(lines.contains("FAILED    publish                       it didn't happen in time"), "\(lines)")
            #expect(lines.contains("untested  publish a batch               needs: publish"), "\(lines)")
            await server.stop()
        }
    }

    @Test func `The send-to-user command publishes to the user's own channel`() async throws {
        try await withWatchdog {
            let server = try await LocalServer.start()
            let command = try Command(["send-to-user", "ann", "note", "text"], environment: server.environment)
            #expect(await command.end() == .exit(0))
            #expect(server.requests.first?.json?["channels"] == ["#server-to-user-ann"])
            await server.stop()
        }
    }
}
#endif
