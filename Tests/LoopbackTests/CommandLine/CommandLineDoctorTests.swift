#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing
import TestSupport

/// `pusher-channels doctor` as a user runs it: the step that it reports as failed, and its exit status.
@Suite(.serialized) struct CommandLineDoctorTests {
    private struct Examination: CustomStringConvertible {
        let end: Command.End?
        let steps: [[String: String]]
        let description: String

        /// Returns the steps with this result, in order.
        func steps(_ result: String) -> [String] { steps.filter { $0["result"] == result }.compactMap { $0["step"] } }

        /// The steps that were measured.
        var measured: [String] { steps.filter { $0["milliseconds"].flatMap(Double.init) != nil }.compactMap { $0["step"] } }

        /// Returns whether it failed at a step, with a status, and with an explanation and advice that have these words.
        func failed(at step: String, _ status: Int32, _ detail: String? = nil, advice: String? = nil) -> Bool {
            let failure = steps.first { $0["result"] == "failed" } ?? [:]
            let isSaid = [("detail", detail), ("advice", advice)].allSatisfy { name, words in
                words.map { failure[name]?.contains($0) == true } ?? true
            }
            return end == .exit(status) && failure["step"] == step && isSaid
        }
    }

    private func doctor(_ line: String, _ rest: String...) async throws -> Examination {
        let run = try await Command.run(["doctor", "--json"] + line.words + rest, ["PUSHER_SECRET": ""])
        let objects = try run.output.map { try JSONValue(parsing: $0).objectValue ?? [:] }
        let steps = objects.map { object in
            Dictionary(uniqueKeysWithValues: object.compactMap { key, value in value.identifier.map { (key.text, $0) } })
        }
        return Examination(end: run.end, steps: steps, description: (run.output + run.errors).joined(separator: "\n"))
    }

    @Test func `The doctor reports every step to a healthy server as ok with its time, or the refusing endpoint as failed`()
        async throws
    {
        try await withServer(tls: .throwaway) { server in
            server.stub("POST /deny", StubResponse(status: 403, text: "no"))
            let file = try #require(server.certificateAuthority).file().path
            let line = "127.0.0.1 --tls --port \(server.port) --auth-endpoint https://127.0.0.1:\(server.port)"
            let healthy = try await doctor(line + "/pusher/auth --ca-file", file)
            #expect(healthy.end == .exit(0), "\(healthy)")
            #expect(healthy.steps("skipped") == ["proxy"])
            let waiting = ["tls", "upgrade", "protocol", "authorization", "subscription"]
            #expect(healthy.steps("ok") == ["options", "name", "address", "tcp"] + waiting)
            #expect(healthy.measured == ["name", "tcp"] + waiting)
            let denied = try await doctor(line + "/deny?token=s3cret --ca-file", file)
            #expect(denied.failed(at: "authorization", 1, "403") && !"\(denied)".contains("s3cret"), "\(denied)")
            #expect(denied.steps("untested") == ["subscription"])
        }
    }

    @Test(arguments: [
        ("--key k", ["authorization", "subscription"]), ("--channel presence-a", []), ("--channel private-encrypted-a", []),
    ])
    func `The doctor skips the steps that its options don't ask for, and needs no secret for the channels of serve's app`(
        options: String, skipped: [String]
    ) async throws {
        try await withServer(apps: [.local, ServerApp(id: "2", key: "k", secret: "s")]) { server in
            let run = try await doctor("\(options) --port \(server.port)")
            #expect(run.end == .exit(0) && run.steps("skipped") == ["proxy", "tls"] + skipped, "\(run)")
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
        let run = try await doctor("--key wrong --port \(server.port)")
        #expect(run.failed(at: "protocol", 75, detail, advice: advice), "\(run)")
    }

    /// Some servers refuse a subscription by an error about the connection, not about the channel.
    @Test(arguments: [ServerProfile.hosted, .reverb, .poxa, .ipe, .sockudo])
    func `The doctor fails at the subscription step if the secret isn't the app's`(profile: ServerProfile) async throws {
        try await withServer(profile: profile) { server in
            let run = try await doctor("--secret s3cret --port \(server.port)")
            #expect(run.failed(at: "subscription", 1, advice: "the app with this key") && !"\(run)".contains("s3cret"), "\(run)")
        }
    }

    /// Reverb refuses an origin with the code that others have for a subscription.
    @Test func `The doctor fails at the protocol step if the server refuses the connection with 4009`() async throws {
        let server = try RawServer { connection in
            _ = try connection.upgrade()
            try connection.send(.text(#"{"event":"pusher:error","data":{"code":4009,"message":"Origin not allowed"}}"#))
        }
        let run = try await doctor("--port \(server.port)")
        #expect(run.failed(at: "protocol", 1, "Origin not allowed", advice: "allowed_origins"), "\(run)")
        #expect(run.steps("untested") == ["authorization", "subscription"])
    }

    @Test func `The doctor fails at the proxy step if the proxy refuses the password`() async throws {
        let proxy = try RawServer.replying(.text("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), then: .finish)
        let run = try await doctor("channels.invalid --port 6001 --proxy http://ann:s3%3Acret@127.0.0.1:\(proxy.port)")
        #expect(run.failed(at: "proxy", 1) && !"\(run)".contains("cret"), "\(run)")
        #expect(run.steps("ok") == ["options", "name", "address", "tcp"])
        #expect(run.measured == ["name", "tcp", "proxy"])
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
                "conformance --host 127.0.0.1 --port \(server.port) --no-tls --json"
                    + (hasWebhooks ? " --webhook-port \(port)" : ""))
            #expect(run.end == .exit(failed.isEmpty ? 0 : 1))
            let rows = try run.output.map { try JSONValue(parsing: $0) }
            func features(_ result: String) -> [String] {
                rows.filter { $0["result"] == .string(result) }.compactMap { $0["feature"]?.stringValue }
            }
            #expect(features("failed") == failed && features("untested") == untested, "\(rows)")
            #expect(features("ok").contains("webhooks") == hasWebhooks, "\(rows)")
            #expect(features("ok").count { $0 != "webhooks" } == 18 - failed.count - untested.count, "\(rows)")
        }
    }

    /// A server that takes events and passes none on.
    @Test func `The conformance command fails a feature that doesn't show within the time of --wait`() async throws {
        try await withServer { server in
            server.stub(RequestMatcher(where: { $0.path.hasSuffix("/events") }), StubResponse(text: "{}"))
            let run = try await Command.run("conformance --host 127.0.0.1 --port \(server.port) --no-tls --wait 0.1")
            #expect(run.end == .exit(1))
            for row in [
                "ok        connect", "FAILED    publish                       it didn't happen in time",
                "untested  publish a batch               needs: publish",
            ] {
                #expect(run.output.contains(row), "\(run.output)")
            }
        }
    }
}
#endif
