#if os(Linux)
import Foundation
import Processes
@testable import pusher_channels
import PusherChannels
import Testing
import TestSupport

/// The live page over sockets, as a browser requests it. `Tests/Scripts/live-page` checks how a browser displays it.
@Suite struct LivePageTests {
    private struct Response {
        let head: String
        let body: String
        var status: String { String(head.dropFirst("HTTP/1.1 ".count).prefix(3)) }

        func header(_ name: String) -> String? {
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
            return line.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private static let app = ServerApp(
        id: "1", key: "shop", secret: "not-for-browsers", encryptionMasterKey: ServerApp.local.encryptionMasterKey)

    private func withPage(
        profile: ServerProfile = .hosted, _ body: @escaping @Sendable (LocalServer) async throws -> Void
    ) async throws {
        var settings = LocalServer.Settings()
        settings.allowedHosts = AllowedHosts(alsoNamed: ["dev.example"])
        let server = try await LocalServer.start(apps: [Self.app], profile: profile, settings: settings)
        LivePage(profile: "hosted").show(server)
        try await withWatchdog { try await body(server) }
        await server.stop()
    }

    private func ask(
        _ path: String, posting body: String? = nil, headers: [String: String] = [:], of server: LocalServer
    ) async throws -> Response {
        var headers = headers
        headers["Host"] = headers["Host"] ?? "127.0.0.1:\(server.port)"
        headers["Connection"] = "close"
        headers["Content-Length"] = body.map { "\($0.utf8.count)" }
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let client = try RawClient(port: server.port)
        client.send(Array("\(body == nil ? "GET" : "POST") \(path) HTTP/1.1\r\n\(lines)\r\n\(body ?? "")".utf8))
        let text = String(decoding: try await client.reads().bytes, as: UTF8.self)
        let parts = text.components(separatedBy: "\r\n\r\n")
        return Response(head: parts[0], body: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    /// Publishes as the page does.
    private func publish(_ body: String, origin: String? = nil, on server: LocalServer) async throws -> Response {
        let headers = ["Origin": origin ?? "http://127.0.0.1:\(server.port)", "Content-Type": "application/json"]
        return try await ask("/page/publish", posting: body, headers: headers, of: server)
    }

    private func event(_ channel: String = "news", data: String = "1", app: String = "shop") -> String {
        JSONValue.object(["app": .string(app), "channel": .string(channel), "event": "headline", "data": .string(data)]).text
    }

    @Test func `The live page is one file that loads nothing else, under a policy with a fresh nonce`() async throws {
        try await withPage { server in
            let (first, second) = (try await ask("/", of: server), try await ask("/", of: server))
            #expect(first.status == "200")
            let headers = ["Content-Type", "X-Content-Type-Options", "Cache-Control"].map { first.header($0) }
            #expect(headers == ["text/html; charset=utf-8", "nosniff", "no-store"])
            let policy = try #require(first.header("Content-Security-Policy"))
            let nonce = try #require(policy.firstMatch(of: #/script-src 'nonce-([a-z0-9]+)'/#)?.1)
            for part in [
                "default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
                "style-src 'nonce-\(nonce)'",
            ] {
                #expect(policy.contains(part))
            }
            #expect(!policy.contains("unsafe"))
            #expect(first.body.contains("<script nonce=\"\(nonce)\">") && !second.body.contains(nonce))
            #expect(!first.body.contains("src=") && !first.body.contains("innerHTML"))
            let addresses = first.body.matches(of: #/https?:\/\/[^'" ]*/#).map { String($0.0) }
            #expect(addresses == ["http://www.w3.org/2000/svg"])
        }
    }

    private func state(_ query: String = "", of server: LocalServer) async throws -> JSONValue {
        let response = try await ask("/page/state?\(query)", of: server)
        #expect(response.status == "200" && response.header("Content-Type") == "application/json")
        #expect(!response.body.contains("<"))
        return try JSONValue(parsing: response.body)
    }

    /// A page that has the beginning of a log asks for the rest. Another server's page doesn't get the wrong one.
    @Test func `The live page's state has the log's events with markup escaped, all or those newer than the page's last`()
        async throws
    {
        try await withPage { server in
            let markup = "<img src=x onerror=alert(1)></script>"
            server.publish(channel: "news", event: "first", data: "1")
            server.publish(channel: "news", event: markup, data: markup)
            let all = try await state(of: server)
            #expect(all["profile"] == "hosted")
            #expect(all["server"]?["log"]?["items"]?.arrayValue?.first?["data"]?["text"]?.stringValue == markup)
            func names(_ query: String) async throws -> [String?]? {
                let items = try await state(query, of: server)["server"]?["log"]?["items"]?.arrayValue
                return items?.map { $0["name"]?["text"]?.stringValue }
            }
            let run = all["run"]?.stringValue ?? ""
            #expect(try await names("run=\(run)&last=1") == [markup])
            #expect(try await names("run=other&last=1") == [markup, "first"])
            #expect(try await names("run=\(run)&last=x") == [markup, "first"])
        }
    }

    @Test func `Data of which the live page's state has the beginning is sent on request, at most 128 KiB of it`() async throws {
        var profile = ServerProfile.hosted
        profile.maximumEventDataLength = 1 << 20
        try await withPage(profile: profile) { server in
            let data = String(repeating: "<é", count: 3_000)
            server.publish(channel: "news", event: "long", data: data)
            server.publish(channel: "news", event: "large", data: String(repeating: "x", count: 1 << 20))
            let run = try await state(of: server)["run"]?.stringValue ?? ""
            func whole(_ number: Int) async throws -> JSONValue {
                let response = try await ask("/page/data?run=\(run)&number=\(number)", of: server)
                #expect(!response.body.contains("<"))
                return try JSONValue(parsing: response.body)
            }
            let (long, large) = (try await whole(1), try await whole(2))
            #expect(long["text"]?.stringValue == data && long["rest"]?.integerValue == 0)
            #expect(large["text"]?.stringValue?.utf8.count == 1 << 17)
            #expect(large["rest"]?.integerValue == 1 << 20 - 1 << 17)
            for query in ["run=\(run)&number=3", "run=\(run)&number=x", "run=other&number=1", ""] {
                #expect(try await ask("/page/data?\(query)", of: server).status == "404")
            }
        }
    }

    @Test func `The live page's lists of channels and connections are searched and sorted on request`() async throws {
        try await withPage { server in
            let client = LiveClient(of: server, key: "shop")
            try await client.connect()
            for name in ["room-10", "room-2", "news"] { try await client.subscribe(name) }
            func names(_ query: String) async throws -> [String?] {
                let state = try await state(query, of: server)
                return state["server"]?["channels"]?["items"]?.arrayValue?.map { $0["name"]?["text"]?.stringValue } ?? []
            }
            #expect(try await names("channels=room") == ["room-2", "room-10"])
            #expect(try await names("channels=connection+1&order=size") == ["news", "room-2", "room-10"])
            #expect(try await names("channels-start=-1") == ["news", "room-2", "room-10"])
            #expect(try await names("connections=connection+2") == ["news", "room-2", "room-10"])
        }
    }

    @Test func `The live page publishes an event and gets the number of receivers`() async throws {
        try await withPage { server in
            let client = LiveClient(of: server, key: "shop")
            try await client.connect()
            try await client.subscribe("news")
            let response = try await publish(event(data: #"{"text":"hi"}"#), on: server)
            #expect(response.status == "200" && response.body == #"{"receivers":1}"#)
            #expect(try await client.event("headline") == #"{"text":"hi"}"#)
            #expect(server.findings.isEmpty)
        }
    }

    @Test func `A publish from the live page that is refused gets status 400 and the reason, from elsewhere status 403`()
        async throws
    {
        try await withPage { server in
            let refusals = [
                (event("no channel"), "Invalid channel name: no channel"),
                (event(app: "other"), "There is no such app."),
                ("{}", "app, channel, event and data are required, as strings."),
            ]
            for (body, reason) in refusals {
                let response = try await publish(body, on: server)
                #expect(response.status == "400" && response.body == reason)
            }
            #expect(try await publish(event(), origin: "http://127.0.0.1:1", on: server).status == "403")
            let headers = ["Content-Type": "application/json"]
            #expect(try await ask("/page/publish", posting: event(), headers: headers, of: server).status == "403")
            #expect(try await ask("/page/publish", of: server).status == "404")
            #expect(try await state(of: server)["server"]?["log"]?["total"]?.integerValue == 0)
        }
    }

    @Test func `No response to the live page contains the app's secret or master key, and none of its requests is recorded`()
        async throws
    {
        try await withPage { server in
            let masterKey = try #require(Self.app.encryptionMasterKey)
            var responses = [
                try await ask("/", of: server), try await ask("/page/state", of: server), try await publish(event(), on: server),
            ]
            #expect(responses.map(\.status) == ["200", "200", "200"])
            #expect(server.requests.isEmpty && server.findings.isEmpty)
            responses += [
                try await publish(event("private-encrypted-orders", data: "a trout"), on: server),
                try await publish(event("no channel"), on: server), try await publish("{", on: server),
                try await ask("/page/state", of: server), try await ask("/", headers: ["Host": "elsewhere.example"], of: server),
            ]
            for response in responses {
                for secret in [Self.app.secret, masterKey] { #expect(!(response.head + response.body).contains(secret)) }
            }
        }
    }

    @Test func `A local server in a test has no live page`() async throws {
        try await withServer { server in
            let responses = [try await ask("/", of: server), try await ask("/page/state", of: server)]
            #expect(responses.map(\.status) == ["404", "404"])
            #expect(server.unmatchedRequests.map(\.path) == ["/", "/page/state"])
        }
    }
}

@Suite struct PageVisitorTests {
    private static let own = "http://127.0.0.1:6001"

    @Test(
        arguments: [
            (own, "application/json", true), ("https://127.0.0.1:6001", "Application/JSON; charset=utf-8", true),
            ("http://localhost:6001", "application/json", false), ("http://127.0.0.1:3000", "application/json", false),
            ("http://127.0.0.1", "application/json", false), ("https://elsewhere.example", "application/json", false),
            ("null", "application/json", false), ("", "application/json", false), (nil, "application/json", false),
            (own, "text/plain", false), (own, "text/plain; application/json", false),
            (own, "application/x-www-form-urlencoded", false), (own, nil, false),
        ] as [(String?, String?, Bool)])
    func `A web page's publish is accepted only as JSON and only from the live page's origin`(
        origin: String?, contentType: String?, isLetIn: Bool
    ) {
        var headers = ["Host": "127.0.0.1:6001"]
        headers["Origin"] = origin
        headers["Content-Type"] = contentType
        let visitor = PageVisitor(RecordedRequest(method: "POST", url: "/page/publish", headers: headers))
        #expect((visitor.publishRefusal == nil) == isLetIn)
    }
}
#endif
