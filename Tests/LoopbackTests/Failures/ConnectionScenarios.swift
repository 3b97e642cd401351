#if os(Linux)
import Glibc
@testable import PusherChannels
import TestSupport

extension FailureScenario {
    static let connecting = [
        FailureScenario("The host's name has no address") {
            try await failure(of: request(port: 80, host: "nobody.invalid"), ports: [80: 443]) {
                AddressResolver.shared.resolve($0, completion: $1)
            }
        },
        FailureScenario("The name server doesn't respond") {
            try await failure(of: request(port: 80), ports: [80: 443], timeouts: impatient) { _, _ in {} }
        },
        FailureScenario("Nobody listens on the port") {
            let (port, descriptor) = try RawServer.refusingPort()
            defer { close(descriptor) }
            return try await failure(of: request(port: port), ports: [port: 443])
        },
        FailureScenario("Nobody listens at any of the host's addresses") {
            let (port, descriptor) = try RawServer.refusingPort()
            defer { close(descriptor) }
            return try await failure(
                of: request(port: port), ports: [port: 443], resolve: resolving(to: ["127.0.0.2", "127.0.0.1"]))
        },
        FailureScenario("The host doesn't accept the connection") {
            let full = try FullListener()
            defer { withExtendedLifetime(full) {} }
            return try await failure(of: request(port: full.port), ports: [full.port: 443], timeouts: impatient)
        },
        FailureScenario("There is no route to the address") {
            // The broadcast address, which TCP doesn't support.
            try await failure(of: request(port: 80), ports: [80: 443], resolve: resolving(to: ["255.255.255.255"]))
        },
    ]

    static func request(port: Int, host: String = "ws.example", secure: Bool = false) -> WebSocketRequest {
        WebSocketRequest(secure: secure, host: host, port: port, path: "/", proxy: .none)
    }

    /// Connects to a server that does what a script says.
    static func scripted(
        secure: Bool = false, timeouts: NetworkTimeouts = .long, _ script: @escaping @Sendable (RawConnection) throws -> Void
    ) async throws -> FailureReport {
        let server = try RawServer(script: script)
        return try await failure(of: request(port: server.port, secure: secure), ports: [server.port: 443], timeouts: timeouts)
    }
}

extension FailureScenario {
    static let upgrades =
        [
            ("The server refuses the upgrade", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"),
            ("The server sends the client elsewhere", "HTTP/1.1 302 Found\r\nLocation: wss://other.example/\r\n\r\n"),
            ("The server is overloaded", "HTTP/1.1 503 Service Unavailable\r\n\r\n"),
            ("The server responds as if to a request for a page", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
            ("The host doesn't speak HTTP", "SSH-2.0-OpenSSH_9.2\r\n"),
            ("The response has a malformed header line", "HTTP/1.1 101 Switching Protocols\r\nnonsense\r\n\r\n"),
            (
                "The response's head doesn't end",
                "HTTP/1.1 101 Switching Protocols\r\n" + String(repeating: "A: b\r\n", count: 3000)
            ),
        ].map { name, text in FailureScenario(name) { try await replied(.text(text)) } }
        + [
            ("The response lacks the upgrade", ["Connection: Upgrade"]),
            ("The response lacks the connection's upgrade", ["Upgrade: websocket"]),
            ("The response is to another request", upgrade + ["Sec-WebSocket-Accept: bm90IHRoZSByaWdodCBrZXkhISE="]),
            ("The response lacks Sec-WebSocket-Accept", upgrade),
        ].map { name, fields in FailureScenario(name) { try await replied(.text(head(fields))) } }
        + [
            ("The response to the upgrade has a body", "Content-Length: 5"),
            ("The response to the upgrade has a chunked body", "Transfer-Encoding: chunked"),
            ("The server uses an extension that wasn't asked for", "Sec-WebSocket-Extensions: permessage-deflate"),
            ("The server chose a subprotocol that wasn't asked for", "Sec-WebSocket-Protocol: chat"),
        ].map { name, field in
            FailureScenario(name) {
                try await scripted { connection in
                    let head = String(decoding: try RawConnection.upgradeHead(for: connection.readRequest()), as: UTF8.self)
                    try connection.send(head.dropLast() + "\(field)\r\n\r\n")
                    try connection.readToEnd()
                }
            }
        }
        + [
            FailureScenario("The server hangs up instead of responding") { try await replied(.bytes([]), then: .finish) },
            FailureScenario("The server resets the connection instead of responding") {
                try await replied(.bytes([]), then: .reset)
            },
            FailureScenario("The server hangs up in the middle of its response") {
                try await replied(.text("HTTP/1.1 101 Switch"), then: .finish)
            },
            FailureScenario("The server doesn't respond") { try await scripted(timeouts: impatient) { try $0.readToEnd() } },
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

extension FailureScenario {
    static let frames =
        [
            ("A masked frame", [0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6B]),
            ("A reserved bit is set", [0xC1, 2, 0x68, 0x69]),
            ("An opcode that means nothing", [0x83, 0]),
            ("A length that has a shorter form", [0x81, 126, 0, 2, 0x68, 0x69]),
            ("A length of more than 63 bits", [0x81, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0]),
            ("A ping of more than 125 bytes", [0x89, 126, 0, 126]),
            ("A ping in parts", [0x09, 0]),
            ("A continuation of nothing", [0x80, 0]),
            ("A new message inside one in parts", [0x01, 1, 0x61, 0x81, 1, 0x62]),
            ("A close frame with half a code", [0x88, 1, 3]),
            ("A close code that may not be sent", [0x88, 2, 0x03, 0xED]),
            ("A close reason that isn't UTF-8", [0x88, 4, 0x03, 0xE8, 0xC3, 0x28]),
            ("A text that isn't UTF-8", [0x81, 4, 0x22, 0xC3, 0x28, 0x22]),
            ("A message beyond the limit", [0x81, 126, 0x04, 0x01]),
        ].map { name, bytes in FailureScenario(name) { try await received(bytes) } }
        + [
            FailureScenario("The connection ends without a close frame") { try await received([0x81, 0], then: .finish) },
            FailureScenario("The connection ends in the middle of a frame") {
                try await received([0x81, 5, 0x68], then: .finish)
            },
            FailureScenario("The connection is reset") { try await received([], then: .reset) },
        ]

    private static func received(_ bytes: [Int], then ending: RawServer.Ending = .silence) async throws -> FailureReport {
        let server = try RawServer.replying(followedBy: bytes.map { UInt8($0) }, then: ending)
        defer { withExtendedLifetime(server) {} }
        var request = request(port: server.port)
        request.maximumMessageSize = 1024
        return try await failure(of: request, ports: [server.port: 443])
    }
}

extension FailureScenario {
    static let proxies = [
        FailureScenario("The proxy's name has no address") {
            var request = Self.request(port: 443, secure: true)
            request.proxy = .http(HTTPProxy(host: "nobody.invalid", port: 3128))
            return try await failure(of: request) { AddressResolver.shared.resolve($0, completion: $1) }
        },
        FailureScenario("Nobody listens on the proxy's port") {
            let (port, descriptor) = try RawServer.refusingPort()
            defer { close(descriptor) }
            return try await failure(of: through(port), ports: [port: 3128])
        },
        FailureScenario("The proxy wants credentials") {
            try await refused(credentials: ConnectProxy.Credentials(user: "ann", password: "x"))
        },
        FailureScenario("The proxy doesn't take the credentials") {
            try await refused(
                credentials: ConnectProxy.Credentials(user: "ann", password: "x"),
                showing: HTTPProxy.Credentials(user: "ann", password: "wrong"))
        },
        FailureScenario("The proxy doesn't let anybody go there") { try await refused(.refused(status: 403)) },
        FailureScenario("The proxy can't reach the server") { try await refused(.refused(status: 502)) },
        FailureScenario("The proxy isn't an HTTP proxy") { try await refused(.garbage(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))) },
        FailureScenario("The proxy's response doesn't end") { try await refused(.endlessHeader) },
        FailureScenario("The proxy sends more than its response") {
            try await refused(.establishedFollowed(by: Array("hello".utf8)))
        },
        FailureScenario("The proxy doesn't respond") { try await refused(.silence, timeouts: impatient) },
        FailureScenario("The proxy hangs up") { try await refused(.closed) },
        FailureScenario("The server behind the proxy is not the one it should be") {
            let server = try RawServer.replying(tls: .throwaway)
            let proxy = try ConnectProxy(to: server.port)
            defer { withExtendedLifetime((server, proxy)) {} }
            return try await failure(of: through(proxy.port), ports: [proxy.port: 3128])
        },
    ]

    /// Returns a request to a server that only the proxy knows.
    private static func through(_ port: Int, showing credentials: HTTPProxy.Credentials? = nil) -> WebSocketRequest {
        var request = request(port: 443, secure: true)
        request.proxy = .http(HTTPProxy(host: "127.0.0.1", port: port, credentials: credentials))
        return request
    }

    private static func refused(
        _ reply: ConnectProxy.Reply = .established, credentials: ConnectProxy.Credentials? = nil,
        showing shown: HTTPProxy.Credentials? = nil, timeouts: NetworkTimeouts = .long
    ) async throws -> FailureReport {
        let server = try RawServer.replying()
        let proxy = try ConnectProxy(to: server.port, credentials: credentials, reply: reply)
        defer { withExtendedLifetime((server, proxy)) {} }
        return try await failure(of: through(proxy.port, showing: shown), ports: [proxy.port: 3128], timeouts: timeouts)
    }
}
#endif
