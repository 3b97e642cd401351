#if os(Linux)
import Foundation
import Glibc
import PusherChannels
@testable import TestSupport

/// A proxy for tests that makes tunnels with HTTP's CONNECT, all to one port of this machine. It connects to nothing before it
/// grants a tunnel.
final class ConnectProxy: Sendable {
    /// The user name and the password that a client must know to be served.
    struct Credentials: Sendable {
        let user: String
        let password: String
    }

    private let server: RawServer
    private let openTunnels: Locked<Int>

    var port: Int { server.port }
    /// The requests that the proxy received, in the order in which they were complete.
    var requests: [Request] { server.requests.all.map { Request(head: $0) } }
    /// The number of tunnels that are open now.
    var openTunnelCount: Int { openTunnels.withLock { $0 } }

    /// Starts a proxy, which listens when this returns.
    ///
    /// - Parameters:
    ///   - target: The port on this machine that all tunnels lead to, whatever address is requested.
    ///   - credentials: The credentials that clients must show (Basic); without them, they get 407.
    ///   - reply: The reply to a client that shows them.
    init(on address: Loopback = .ipv4, to target: Int, credentials: Credentials? = nil, reply: Reply = .established()) throws {
        let openTunnels = Locked(0)
        self.openTunnels = openTunnels
        server = try RawServer(on: address) { client in
            let request = Request(head: try client.readRequest())
            if let credentials, !request.shows(credentials) {
                let field = #"Proxy-Authenticate: Basic realm="tests", charset="UTF-8""#
                return try client.send(ConnectProxy.refusal(407, field))
            }
            try ConnectProxy.give(reply, to: client) { head, cut in
                let server = try Loopback.ipv4.connection(to: target)
                openTunnels.withLock { $0 += 1 }
                defer {
                    openTunnels.withLock { $0 -= 1 }
                    close(server)
                }
                try client.send(head, cut: cut)
                var tunnel = Tunnel(client.descriptor, server)
                if tunnel.run() == .reset { for descriptor in [client.descriptor, server] { Sockets.resetOnClose(descriptor) } }
            }
        }
    }

    /// Gives a client a reply. If that grants the tunnel, `grant` sends it, cut as it says, and makes the tunnel.
    private static func give(
        _ reply: Reply, to client: RawConnection, grant: (_ head: [UInt8], _ cut: Cut) throws -> Void
    ) throws {
        let granted = "200 Connection established\r\n"
        switch reply {
        case .established(let cut): try grant(Array("HTTP/1.1 \(granted)\r\n".utf8), cut)
        case .establishedHTTP10: try grant(Array("HTTP/1.0 \(granted)\r\n".utf8), .nowhere)
        case .establishedWithBodyLength: try grant(Array("HTTP/1.1 \(granted)Content-Length: 100\r\n\r\n".utf8), .nowhere)
        case .establishedFollowed(let bytes): try grant(Array("HTTP/1.1 \(granted)\r\n".utf8) + bytes, .nowhere)
        case .refused(let status): try client.send(refusal(status))
        case .garbage(let bytes): try client.send(bytes)
        case .endlessHeader:
            try client.send("HTTP/1.1 \(granted)")
            while true { try client.send(String(repeating: "X-More: and more\r\n", count: 60)) }
        case .silence: _ = client.readRest()
        case .closed: break
        }
    }

    private static func refusal(_ status: Int, _ fields: String...) -> String {
        let body = "the proxy says \(status)\n"
        let head = ["HTTP/1.1 \(status) Refused"]
        let common = ["Content-Type: text/plain", "Content-Length: \(body.utf8.count)", "Connection: close"]
        return (head + fields + common).joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

extension ConnectProxy {
    /// The proxy's reply to a request that it accepts.
    enum Reply: Sendable {
        /// Grants the tunnel, with a head that is sent in pieces.
        case established(cut: Cut = .nowhere)
        /// Grants the tunnel in HTTP/1.0.
        case establishedHTTP10
        /// Grants the tunnel with a `Content-Length`, which means nothing in a response to CONNECT.
        case establishedWithBodyLength
        /// Grants the tunnel, with these first bytes of the tunnel in the same segment as the head.
        case establishedFollowed(by: [UInt8])
        /// Replies with this status and a text, and closes.
        case refused(status: Int)
        /// Replies with exactly these bytes, and closes.
        case garbage([UInt8])
        /// Replies with 200 and endless header fields.
        case endlessHeader
        /// Never replies.
        case silence
        /// Closes without a reply.
        case closed
    }

    struct Request: Equatable, Sendable {
        /// `CONNECT example.com:443 HTTP/1.1`
        let line: String
        /// The header's fields in their order.
        let fields: [Field]

        struct Field: Equatable, Sendable {
            let name: String
            let value: String
        }

        init(head: String) {
            var lines = head.components(separatedBy: "\r\n").filter { !$0.isEmpty }
            line = lines.isEmpty ? "" : lines.removeFirst()
            fields = lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return Field(
                    name: String(parts[0]), value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
            }
        }

        /// Returns the values of the fields with a name, regardless of case.
        func values(_ name: String) -> [String] {
            fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }

        /// Returns whether the request shows these credentials.
        func shows(_ credentials: Credentials) -> Bool {
            let words = values("Proxy-Authorization").first?.split(separator: " ").map(String.init) ?? []
            guard words.count == 2, words[0].lowercased() == "basic" else { return false }
            return Data(base64Encoded: words[1]) == Data("\(credentials.user):\(credentials.password)".utf8)
        }

        /// The requested address of the tunnel, such as `example.com:443`; nil if the request isn't a CONNECT.
        var target: String? {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "CONNECT", words[2].hasPrefix("HTTP/1.") else { return nil }
            return String(words[1])
        }
    }
}
#endif
