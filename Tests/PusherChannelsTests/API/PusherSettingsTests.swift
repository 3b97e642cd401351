import Foundation
import TestSupport
import Testing

@testable import PusherChannels

@Suite struct PusherSettingsTests {
    private func problem(_ variables: [String: String]) -> String {
        do {
            let settings = try PusherSettings(environment: variables)
            return "none: \(settings)"
        } catch {
            #expect(error.kind == .invalidRequest && !error.isRetryable)
            return error.message
        }
    }

    @Test(arguments: [
        ("https://k:s3cr3t@api-eu.pusher.com/apps/7", PusherServer(.cluster("eu"))),
        ("http://k:s3cr3t@api.pusherapp.com/apps/7", PusherServer(.defaultHost)),
        ("http://k:s3cr3t@ws.pusherapp.com:80/apps/7", PusherServer(.defaultHost)),
        ("http://k:s3cr3t@127.0.0.1:6001/apps/7/", PusherServer(.host("127.0.0.1"), port: 6001, useTLS: false)),
        ("https://k:s3%2Fcr3t@ws.example/apps/7", PusherServer(.host("ws.example"))),
    ])
    func `PUSHER_URL alone gives key, app, and server, and a secret that is hidden`(url: String, server: PusherServer) throws {
        let settings = try PusherSettings(environment: ["PUSHER_URL": url])
        #expect((settings.key, settings.server) == ("k", server))
        #expect(!"\(settings)".contains("s3"))
        let options = settings.options(PusherClientOptions(activityTimeout: 7))
        #expect((options.host, options.useTLS, options.activityTimeout) == (server.host, server.useTLS, 7))
        #expect(options.port == server.port ?? (server.useTLS ? 443 : 80) && options.chosenPort == server.port)
        #expect("\(try PusherHTTPAPI(settings: settings))" == "PusherHTTPAPI(app 7, key k)")
    }

    @Test func `Single environment variables override the parts of PUSHER_URL`() async throws {
        let session = MockSession(delivery: .immediate)
        let settings = try PusherSettings(environment: [
            "PUSHER_URL": "https://k:s@api-eu.pusher.com/apps/7", "PUSHER_APP_ID": "8", "PUSHER_KEY": "l", "PUSHER_SECRET": "t",
            "PUSHER_HOST": "ws.example", "PUSHER_PORT": "6001", "PUSHER_TLS": "1", "PUSHER_CLUSTER": "",
        ])
        #expect((settings.key, settings.server) == ("l", PusherServer(.host("ws.example"), port: 6001)))
        let api = try PusherHTTPAPI(settings: settings, environment: PusherEnvironment(httpSession: session))
        session.stub(.path("/apps/8/events"), .json(["ok": true]))
        try await api.trigger(channels: ["news"], eventName: "n", data: "1")
        #expect(session.requests.last?.url.hasPrefix("https://ws.example:6001/") == true)
        #expect(Pusher(settings: settings).connection.key == "l")
    }

    /// Laravel's file names a port, whatever the server.
    @Test(arguments: [
        ("http://k:s@ws.example/apps/7", PusherServer(.host("ws.example"), port: 6001)),
        ("http://k:s@api-eu.pusher.com/apps/7", PusherServer(.cluster("eu"))),
    ])
    func `A port and TLS set beside PUSHER_URL count for a host, not for a cluster`(url: String, server: PusherServer) throws {
        let variables = ["PUSHER_URL": url, "PUSHER_PORT": "6001", "PUSHER_TLS": "1"]
        #expect(try PusherSettings(environment: variables).server == server)
    }

    @Test(arguments: [nil, "0", "1"])
    func `The hosted service's own host name always means TLS on port 443`(tls: String?) throws {
        let variables = ["PUSHER_KEY": "k", "PUSHER_HOST": "ws.pusherapp.com", "PUSHER_PORT": "80", "PUSHER_TLS": tls]
        let settings = try PusherSettings(environment: variables.compactMapValues { $0 })
        #expect((settings.options().useTLS, settings.options().port) == (true, 443))
    }

    @Test func `Settings that are missing or invalid throw an error that names the variable`() {
        let url = "PUSHER_URL is not an address with KEY:SECRET@HOST/apps/APP_ID"
        for (variables, message) in [
            ([:], "PUSHER_KEY is not set"), (["PUSHER_KEY": ""], "PUSHER_KEY is not set"),
            (["PUSHER_KEY": "k"], "PUSHER_URL, PUSHER_CLUSTER or PUSHER_HOST is not set"),
            (["PUSHER_KEY": "k", "PUSHER_HOST": "h", "PUSHER_TLS": "true"], "PUSHER_TLS is \"true\", not 1 or 0"),
            (["PUSHER_URL": "k:s3cr3t@x"], url), (["PUSHER_URL": "https://k:s3cr3t@x"], url),
            (["PUSHER_URL": "https://x/apps/1"], url), (["PUSHER_URL": "https://k:s3cr3t@x:99999/apps/1"], url),
            (["PUSHER_URL": "ftp://k:s3cr3t@x/apps/1"], url), (["PUSHER_URL": "https://k:s3cr3t@/apps/1"], url),
            (["PUSHER_URL": "https://k:s3cr3t@x/apps/1/2"], url), (["PUSHER_URL": "%"], url),
        ] as [([String: String], String)] {
            #expect(problem(variables) == message)
        }
        for port in ["60O1", "0"] {
            #expect(problem(["PUSHER_KEY": "k", "PUSHER_HOST": "h", "PUSHER_PORT": port]).contains("\"\(port)\", not a number"))
        }
        let text = problem(["PUSHER_KEY": "k", "PUSHER_CLUSTER": "eu", "PUSHER_ENCRYPTION_MASTER_KEY": "s3"])
        #expect(text.hasPrefix("PUSHER_ENCRYPTION_MASTER_KEY: ") && text.contains("base64") && !text.contains("s3"))
    }

    @Test func `The HTTP API and the auth handler throw an error if the secret or app ID isn't set`() throws {
        let settings = try PusherSettings(environment: ["PUSHER_KEY": "k", "PUSHER_CLUSTER": "eu"])
        let missing = PusherError(.invalidRequest, message: "PUSHER_SECRET is not set")
        #expect(throws: missing) { try PusherHTTPAPI(settings: settings) }
        #expect(throws: missing) { try PusherAuthHandler(settings: settings) }
        let more = try PusherSettings(environment: ["PUSHER_KEY": "k", "PUSHER_CLUSTER": "eu", "PUSHER_SECRET": "s"])
        #expect(throws: PusherError(.invalidRequest, message: "PUSHER_APP_ID is not set")) { try PusherHTTPAPI(settings: more) }
    }

    @Test func `Encryption master keys are read from the environment and used by the auth handler`() async throws {
        let settings = try PusherSettings(environment: [
            "PUSHER_KEY": "k", "PUSHER_CLUSTER": "eu", "PUSHER_SECRET": "s",
            "PUSHER_ENCRYPTION_MASTER_KEY": "\(APIRig.masterKey),\(APIRig.masterKey)",
        ])
        let handler = try PusherAuthHandler(settings: settings)
        let response = await handler.respond(to: Array("socket_id=1.2&channel_name=private-encrypted-a".utf8)) { _ in .allowed }
        #expect(String(decoding: response.body, as: UTF8.self).contains("shared_secret"))
    }
}
