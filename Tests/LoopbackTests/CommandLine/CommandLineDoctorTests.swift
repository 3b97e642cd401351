#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// `pusher-channels doctor` as a user runs it: the step that it reports as failed, and its exit status.
@Suite(.serialized) struct CommandLineDoctorTests {
    private struct Examination {
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

    private func doctor(_ arguments: [String]) async throws -> Examination {
        let run = try await Command.run(["doctor", "--json"] + arguments, ["PUSHER_SECRET": ""])
        let objects = try run.output.map { try JSONValue(parsing: $0).objectValue ?? [:] }
        let steps = objects.map { object in
            Dictionary(uniqueKeysWithValues: object.compactMap { key, value in value.identifier.map { (key.text, $0) } })
        }
        return Examination(end: run.end, steps: steps, text: (run.output + run.errors).joined(separator: "\n"))
    }

    @Test func `The doctor reports every step to a healthy server as ok with its time, or the refusing endpoint as failed`()
        async throws
    {
        try await withServer(tls: .throwaway) { server in
            server.stub("POST /deny", StubResponse(status: 403, text: "no"))
            let (port, file) = (String(server.port), try #require(server.certificateAuthority).file().path)
            let arguments = ["127.0.0.1", "--tls", "--port", port, "--ca-file", file]
            let run = try await doctor(arguments + ["--auth-endpoint", "https://127.0.0.1:\(port)/pusher/auth"])
            #expect(run.end == .exit(0), "\(run.text)")
            #expect(run.steps("skipped") == ["proxy"])
            #expect(
                run.steps("ok") == [
                    "options", "name", "address", "tcp", "tls", "upgrade", "protocol", "authorization", "subscription",
                ])
            #expect(run.measured == ["name", "tcp", "tls", "upgrade", "protocol", "authorization", "subscription"])
            let denied = try await doctor(arguments + ["--auth-endpoint", "https://127.0.0.1:\(port)/deny?token=s3cret"])
            #expect(denied.end == .exit(1), "\(denied.text)")
            #expect(denied.failure?["step"] == "authorization", "\(denied.text)")
            #expect(denied.failure?["detail"]?.contains("403") == true, "\(denied.text)")
            #expect(denied.steps("untested") == ["subscription"])
            #expect(!denied.text.contains("s3cret"), "\(denied.text)")
        }
    }

    @Test func `The doctor skips the steps that its options don't ask for`() async throws {
        try await withServer(apps: [ServerApp(id: "1", key: "k", secret: "s")]) { server in
            let run = try await doctor(["--port", String(server.port), "--key", "k"])
            #expect(run.end == .exit(0), "\(run.text)")
            #expect(run.steps("skipped") == ["proxy", "tls", "authorization", "subscription"])
        }
    }

    /// As with `listen`, the secret and the master key of the server's app are known.
    @Test(arguments: ["presence-a", "private-encrypted-a"])
    func `The doctor needs no secret for the private channels of serve's app`(channel: String) async throws {
        try await withServer { server in
            let run = try await doctor(["--port", String(server.port), "--channel", channel])
            #expect(run.end == .exit(0), "\(run.text)")
            #expect(run.steps("skipped") == ["proxy", "tls"])
        }
    }

    private static let closing = #"{"event":"pusher:error","data":{"code":4200,"message":"Server is closing."}}"#

    /// A server that is shutting down asks its clients to come back at once, with an error before the close or without. Sockudo
    /// refuses a key by hanging up right after the upgrade.
    @Test(arguments: [
        (
            [Frame.text(closing), .close(4200, "Server is closing.")], "Server is closing.",
            "The server asks clients to come back"
        ),
        ([Frame.close(4200, "Server is closing.")], "Server is closing.", "The server asks clients to come back"),
        ([], "as was the one before", "Check --key"),
    ])
    func `The doctor fails at the protocol step with status 75 if the server ends the connection for now, or without a reason`(
        frames: [Frame], detail: String, advice: String
    ) async throws {
        let server = try RawServer { connection in
            _ = try connection.upgrade()
            for frame in frames { try connection.send(frame) }
        }
        let run = try await doctor(["--port", String(server.port), "--key", "wrong"])
        #expect(run.end == .exit(75), "\(run.text)")
        #expect(run.failure?["step"] == "protocol", "\(run.text)")
        #expect(run.failure?["detail"]?.contains(detail) == true, "\(run.text)")
        #expect(run.failure?["advice"]?.hasPrefix(advice) == true, "\(run.text)")
    }

    /// Some servers refuse a subscription by an error about the connection, not about the channel.
    @Test(arguments: [ServerProfile.hosted, .reverb, .poxa, .ipe, .sockudo])
    func `The doctor fails at the subscription step if the secret isn't the app's`(profile: ServerProfile) async throws {
        try await withServer(profile: profile) { server in
            let run = try await doctor(["--port", String(server.port), "--secret", "s3cret"])
            #expect(run.end == .exit(1), "\(run.text)")
            #expect(run.failure?["step"] == "subscription", "\(run.text)")
            #expect(run.failure?["advice"]?.contains("the app with this key") == true, "\(run.text)")
            #expect(!run.text.contains("s3cret"), "\(run.text)")
        }
    }

    @Test func `The doctor fails at the proxy step if the proxy refuses the password`() async throws {
        let proxy = try RawServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        }
        let address = "http://ann:s3%3Acret@127.0.0.1:\(proxy.port)"
        let run = try await doctor(["channels.invalid", "--port", "6001", "--proxy", address])
        #expect(run.end == .exit(1), "\(run.text)")
        #expect(run.failure?["step"] == "proxy", "\(run.text)")
        #expect(run.steps("ok") == ["options", "name", "address", "tcp"])
        #expect(run.measured == ["name", "tcp", "proxy"])
        #expect(!run.text.contains("cret"), "\(run.text)")
        let request = try #require(proxy.requests.all.first)
        #expect(request.hasPrefix("CONNECT channels.invalid:6001 HTTP/1.1\r\n"))
        #expect(request.contains("\r\nProxy-Authorization: Basic \(Data("ann:s3:cret".utf8).base64EncodedString())\r\n"))
    }

    // MARK: Conformance

    /// The features of a server, and those that it hasn't got. Webhooks are tested only if there is a port for them.
    @Test(arguments: [
        (ServerProfile.hosted, [], [], true), (.reverb, ["sign in"], ["event to a user", "close a user's connections"], false),
    ])
    func `The conformance command names the features that a server lacks`(
        profile: ServerProfile, failed: [String], untested: [String], hasWebhooks: Bool
    ) async throws {
        let (port, descriptor) = try RawServer.refusingPort()
        close(descriptor)
        var app = ServerApp.local
        app.webhooks = hasWebhooks ? [ServerApp.WebhookEndpoint("http://127.0.0.1:\(port)/any/path")] : []
        try await withServer(apps: [app], profile: profile) { server in
            let run = try await Command.run(
                ["conformance", "--host", "127.0.0.1", "--port", "\(server.port)", "--no-tls", "--json"]
                    + (hasWebhooks ? ["--webhook-port", "\(port)"] : []))
            #expect(run.end == .exit(failed.isEmpty ? 0 : 1))
            let rows = try run.output.map { try JSONValue(parsing: $0) }
            func features(_ result: String) -> [String] {
                rows.filter { $0["result"] == .string(result) }.compactMap { $0["feature"]?.stringValue }
            }
            #expect(features("failed") == failed, "\(rows)")
            #expect(features("untested") == untested, "\(rows)")
            #expect(features("ok").contains("webhooks") == hasWebhooks, "\(rows)")
            #expect(features("ok").count { $0 != "webhooks" } == 18 - failed.count - untested.count, "\(rows)")
        }
    }

    /// A server that takes events and passes none on.
    @Test func `The conformance command fails a feature that doesn't show within the time of --wait`() async throws {
        try await withServer { server in
            server.stub(RequestMatcher(where: { $0.path.hasSuffix("/events") }), StubResponse(text: "{}"))
            let run = try await Command.run([
                "conformance", "--host", "127.0.0.1", "--port", "\(server.port)", "--no-tls", "--wait", "0.1",
            ])
            #expect(run.end == .exit(1))
            #expect(run.output.contains("ok        connect"), "\(run.output)")
            #expect(run.output.contains("FAILED    publish                       it didn't happen in time"), "\(run.output)")
            #expect(run.output.contains("untested  publish a batch               needs: publish"), "\(run.output)")
        }
    }
}
#endif
