#if os(Linux)
@testable import PusherChannels

extension FailureScenario {
    static let upgrades =
        [
            ("The server refuses the upgrade", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"),
            ("The server sends the client elsewhere", "HTTP/1.1 302 Found\r\nLocation: wss://other.example/\r\n\r\n"),
            ("The server is overloaded", "HTTP/1.1 503 Service Unavailable\r\n\r\n"),
            ("The server answers the request as if it were for a page", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
            ("What answers doesn't speak HTTP", "SSH-2.0-OpenSSH_9.2\r\n"),
            ("The answer has a line that is no header", "HTTP/1.1 101 Switching Protocols\r\nnonsense\r\n\r\n"),
            (
                "The answer's head doesn't end",
                "HTTP/1.1 101 Switching Protocols\r\n" + String(repeating: "A: b\r\n", count: 3000)
            ),
        ].map { name, text in FailureScenario(name) { try await replied(.text(text)) } }
        + [
            ("The answer lacks the upgrade", ["Connection: Upgrade"]),
            ("The answer lacks the connection's upgrade", ["Upgrade: websocket"]),
            ("The answer is to another request", upgrade + ["Sec-WebSocket-Accept: bm90IHRoZSByaWdodCBrZXkhISE="]),
            ("The answer proves nothing", upgrade),
        ].map { name, fields in FailureScenario(name) { try await replied(.text(head(fields))) } }
        + [
            ("The upgrade's answer has a body", "Content-Length: 5"),
            ("The upgrade's answer has a body in chunks", "Transfer-Encoding: chunked"),
            ("The server uses an extension that wasn't asked for", "Sec-WebSocket-Extensions: permessage-deflate"),
            ("The server chose a subprotocol that wasn't asked for", "Sec-WebSocket-Protocol: chat"),
        ].map { name, field in
            FailureScenario(name) {
                let server = try RawServer { connection in
                    let head = String(decoding: try RawConnection.upgradeHead(for: connection.readRequest()), as: UTF8.self)
                    try connection.send(head.dropLast() + "\(field)\r\n\r\n")
                    try connection.readToEnd()
                }
                return try await failure(of: request(port: server.port), ports: [server.port: 443])
            }
        }
        + [
            FailureScenario("The server hangs up instead of an answer") { try await replied(.bytes([]), then: .finish) },
            FailureScenario("The server resets the connection instead of an answer") {
                try await replied(.bytes([]), then: .reset)
            },
            FailureScenario("The server hangs up in the middle of its answer") {
                try await replied(.text("HTTP/1.1 101 Switch"), then: .finish)
            },
            FailureScenario("The server doesn't answer") {
                let server = try RawServer { try $0.readToEnd() }
                return try await failure(of: request(port: server.port), ports: [server.port: 443], timeouts: impatient)
            },
        ]

    private static let upgrade = ["Upgrade: websocket", "Connection: Upgrade"]

    private static func head(_ fields: [String]) -> String {
        "HTTP/1.1 101 Switching Protocols\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    private static func replied(
        _ head: RawServer.Head, then ending: RawServer.Ending = .silence
    ) async throws -> FailureReport {
        let server = try RawServer.replying(head, then: ending)
        defer { withExtendedLifetime(server) {} }
        return try await failure(of: request(port: server.port), ports: [server.port: 443])
    }
}
#endif
