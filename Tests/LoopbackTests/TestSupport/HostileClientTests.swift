#if os(Linux)
import Foundation
import Glibc
import Processes
import PusherChannels
import Testing

/// Programs and web pages that attack `serve`: what they send costs what its length costs, and is refused where it isn't due.
@Suite(.watchdog) struct HostileClientTests {
    private static let auth = "socket_id=1.2&channel_name=private-a"

    private static let requests: [Attack] = [
        .request("a long line", size: 15_000, "GET", "/", fields: { "X: \(String(repeating: "x", count: $0))\r\n" }),
        .request("many lines", size: 15_000, "GET", "/", fields: { String(repeating: "x: y\r\n", count: $0 / 6) }),
        .request("a path", size: 15_000, "GET", "/SIZE"),
        .request("an app", size: 15_000, "GET", "/apps/SIZE/channels"),
        .request("a query", size: 15_000, "GET", "/apps/1/channels?SIZE=1&auth_key=local-key&auth_version=1.0"),
        .request("a key", size: 15_000, "GET", "/apps/1/channels?auth_key=SIZE"),
        .request("a field", size: 15_000, "GET", "/", fields: { "Accept: \(Attack.marks($0))\r\n" }),
        .request("a host", size: 15_000, "GET", "/", fields: { "Host: \(Attack.marks($0))\r\n" }),
        .request("an origin", size: 15_000, "GET", "/", fields: { "Origin: http://\(Attack.marks($0))\r\n" }),
        .request("a form's name", body: { "\(auth)&\(Attack.marks($0))=1" }),
        .request("a form's value", body: { "socket_id=1.2&channel_name=private-\(Attack.marks($0))" }),
        .request("a form's plus signs", body: { "\(auth)&a=+\(Attack.marks($0))+" }),
        .request("a form's escapes", body: { "\(auth)&a=\(String(repeating: "%CC%81%CC%96", count: $0 / 12))" }),
        .request("a form's names", body: { "\(auth)&\(String(repeating: "a&", count: $0 / 2))" }),
        .request("a user", body: { "socket_id=1.2&channel_name=presence-a&user_id=\(Attack.marks($0))" }),
        .request("names in JSON", body: { #"{"socket_id":"1.2","channel_name":"private-a","\#(Attack.marks($0))":"1"}"# }),
        .request("values in JSON", body: { #"{"socket_id":"\#(Attack.marks($0))","channel_name":"private-a"}"# }),
        .request(
            "addresses in a refusal", size: 15_000, "GET", "/apps/1/channels?auth_key=" + String(repeating: "a://", count: 3)),
        .call("an event", body: { #"{"name":"\#(Attack.marks($0))","channel":"a","data":"1"}"# }),
        .call("a channel", body: { #"{"name":"e","channel":"\#(Attack.marks($0))","data":"1"}"# }),
        .call("a user's channel", body: { ##"{"name":"e","channel":"#server-to-user-\##(Attack.marks($0))","data":"1"}"## }),
        .call("a sender", body: { #"{"name":"e","channel":"a","data":"1","socket_id":"\#(Attack.marks($0))"}"# }),
        .call("attributes", body: { #"{"name":"e","channel":"a","data":"1","info":"\#(Attack.marks($0))"}"# }),
    ]

    private static func message(_ event: String, _ data: String) -> String { #"{"event":"\#(event)","data":\#(data)}"# }

    private static let messages: [Attack] = [
        .messages("a subscription") { size, _ in
            ["", "private-", "presence-", "#server-to-user-"].map {
                message("pusher:subscribe", #"{"channel":"\#($0 + Attack.marks(size))","auth":"\#(Attack.marks(size))"}"#)
            }
        },
        .messages("an unsubscription") { size, _ in [message("pusher:unsubscribe", #"{"channel":"\#(Attack.marks(size))"}"#)] },
        .messages("an event") { size, _ in ["", "client-", "pusher:"].map { message($0 + Attack.marks(size), "1") } },
        .messages("a client event") { size, _ in [#"{"event":"client-a","channel":"private-\#(Attack.marks(size))","data":"1"}"#]
        },
        .messages("a name") { size, _ in [message("pusher:subscribe", #"{"\#(Attack.marks(size))":1,"channel":"a"}"#)] },
        .messages("a member") { size, socketID in
            let data = #"{"user_id":"\#(Attack.marks(size))"}"#
            let auth =
                (try? Signature.channel(
                    "presence-a", channelData: data, socketID: socketID, key: "local-key", secret: "local-secret")) ?? ""
            let text = JSONValue.string(data).text
            return [message("pusher:subscribe", #"{"channel":"presence-a","auth":"\#(auth)","channel_data":\#(text)}"#)]
        },
        .messages("a user") { size, socketID in
            let data = #"{"id":"\#(Attack.marks(size))","watchlist":["\#(Attack.marks(size))","b"]}"#
            let auth = (try? Signature.user(data, socketID: socketID, key: "local-key", secret: "local-secret")) ?? ""
            return [message("pusher:signin", #"{"user_data":\#(JSONValue.string(data).text),"auth":"\#(auth)"}"#)]
        },
    ]

    /// Four times the size takes four times as long; sixteen times as long would be a cost that grows with the square.
    @Test(arguments: requests + messages)
    func `An attacker's request or message costs the server time in proportion to its length`(attack: Attack) async throws {
        let (server, port) = try await Command.server()
        func cost(_ size: Int) async throws -> Duration {
            let before = try ProcessTables.processorTime(of: server.id)
            let outcome = try await onThread { try attack.run(size, port) }
            #expect(!outcome.isEmpty)
            return try ProcessTables.processorTime(of: server.id) - before
        }
        let (once, four) = (try await cost(attack.size), try await cost(4 * attack.size))
        #expect(four < once * 6 + .milliseconds(500), "\(once), then \(four)")
    }

    // MARK: Pages from elsewhere

    /// The requests of a page whose name points to this machine since it was loaded (DNS rebinding), or that is simply from
    /// elsewhere.
    @Test(arguments: [
        "Host: elsewhere.example\r\nOrigin: http://elsewhere.example\r\n", "Host: elsewhere.example\r\n",
        "Host: 127.0.0.1\r\nOrigin: https://elsewhere.example\r\n", "Host: 127.0.0.1\r\nOrigin: null\r\n",
    ])
    func `A web page from another host is refused with 403 at every address of the server`(fields: String) async throws {
        let (server, port) = try await Command.server()
        let requests = [
            "POST /pusher/auth", "POST /pusher/user-auth", "POST /apps/1/events?auth_key=local-key", "GET /apps/1/channels",
            "GET /", "GET /page/state", "POST /page/publish", "GET /nowhere", "OPTIONS /pusher/auth",
        ]
        for request in requests {
            let response = try await onThread { try Self.ask(request, fields, port) }
            #expect(response.hasPrefix("HTTP/1.1 403 "), "\(request): \(response)")
            #expect(!response.contains("local-key") && !response.contains("Access-Control-"))
        }
        #expect(try await onThread { try Self.upgrade(fields, port) } == "HTTP/1.1 403")
        server.signal(SIGTERM)
        let log = await server.errors.toEnd()
        #expect(log.filter { $0.contains(" 403: ") }.count == requests.count + 1, "\(log)")
        #expect(!log.contains { $0.contains("connected to") })
    }

    /// A developer's own pages come from another port, and send fields of their framework.
    @Test(
        arguments: [
            ("localhost", "http://localhost:3000", []), ("127.0.0.1", nil, []),
            ("dev.example:80", "https://Dev.Example", ["--allow-host", "dev.example"]),
            ("elsewhere.example", "null", ["--allow-any-host"]),
        ] as [(String, String?, [String])])
    func `A web page of this machine or of an allowed host is served, and may read its authorization`(
        host: String, origin: String?, options: [String]
    ) async throws {
        let fields = "Host: \(host)\r\n" + (origin.map { "Origin: \($0)\r\n" } ?? "")
        let server = try Command(["serve", "--port", "0"] + options)
        let line = try await server.output.next(containing: "listening on")
        let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
        let response = try await onThread { try Self.ask("POST /pusher/auth", fields, port) }
        #expect(response.hasPrefix("HTTP/1.1 200 "))
        #expect(response.contains("Access-Control-Allow-Origin: ") == (origin != nil))
        #expect(try await onThread { try Self.upgrade(fields, port) } == "HTTP/1.1 101")
        guard let origin else { return }
        #expect(response.contains("\r\nAccess-Control-Allow-Origin: \(origin)\r\n"))
        let asking = fields + "Access-Control-Request-Headers: x-csrf-token\r\n"
        let allowed = try await onThread { try Self.ask("OPTIONS /pusher/user-auth", asking, port) }
        #expect(allowed.hasPrefix("HTTP/1.1 204 ") && allowed.contains("Access-Control-Allow-Origin: \(origin)\r\n"))
        #expect(allowed.contains("Access-Control-Allow-Headers: x-csrf-token\r\n"), "\(allowed)")
    }

    private static func ask(_ request: String, _ fields: String, _ port: Int) throws -> String {
        try Attack.exchange("\(request) HTTP/1.1\r\n\(fields)Content-Length: \(auth.utf8.count)\r\n\r\n\(auth)", port)
    }

    /// Returns the beginning of the response to an upgrade.
    private static func upgrade(_ fields: String, _ port: Int) throws -> String {
        let client = try RawClient(port: port)
        client.send(Attack.upgrade(fields))
        return String(decoding: client.read(12).bytes, as: UTF8.self)
    }

    // MARK: Memory

    /// A page that is open asks every second, for days.
    @Test(
        .disabled(
            if: ProcessInfo.processInfo.environment["CI_SANITIZER"] == "address", "the address sanitizer keeps what is freed"))
    func `The server's memory doesn't grow with the number of requests that it has answered`() async throws {
        let (server, port) = try await Command.server()
        func memory(after count: Int) async throws -> Int {
            try await onThread {
                let client = try RawClient(port: port)
                for _ in 0..<count {
                    client.send(Array("GET /page/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
                    var text = ""
                    while !text.hasSuffix("}}") {
                        let piece = client.readPieces(1).joined()
                        try #require(!piece.isEmpty)
                        text += String(decoding: Array(piece), as: UTF8.self)
                    }
                }
            }
            return try #require(try ProcessTables.residentMemory(of: server.id, atMost: false))
        }
        let (before, after) = (try await memory(after: 500), try await memory(after: 4_000))
        // It was 0.7 KB for each.
        #expect(after - before < 1_400, "\(before) kilobytes, then \(after)")
    }
}
#endif
