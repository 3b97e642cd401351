#if os(Linux)
import Dispatch
import Foundation
import Glibc
import Processes
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
    init(on address: Loopback = .ipv4, to target: Int, credentials: Credentials? = nil, reply: Reply = .established) throws {
        let openTunnels = Locked(0)
        self.openTunnels = openTunnels
        server = try RawServer(on: address) { client in
            let request = Request(head: try client.readRequest())
            if let credentials, !request.shows(credentials) {
                let field = #"Proxy-Authenticate: Basic realm="tests", charset="UTF-8""#
                return try client.send(ConnectProxy.refusal(407, field))
            }
            try ConnectProxy.give(reply, to: client) { head in
                let server = try Loopback.ipv4.connection(to: target)
                openTunnels.withLock { $0 += 1 }
                defer {
                    openTunnels.withLock { $0 -= 1 }
                    close(server)
                }
                try client.send(head)
                Tunnel(one: client.descriptor, other: server).run()
            }
        }
    }

    /// Gives a client a reply. If that grants the tunnel, `grant` sends it, and makes the tunnel.
    private static func give(_ reply: Reply, to client: RawConnection, grant: (_ head: [UInt8]) throws -> Void) throws {
        let granted = "HTTP/1.1 200 Connection established\r\n"
        switch reply {
        case .established: try grant(Array("\(granted)\r\n".utf8))
        case .establishedFollowed(let bytes): try grant(Array("\(granted)\r\n".utf8) + bytes)
        case .refused(let status): try client.send(refusal(status))
        case .garbage(let bytes): try client.send(bytes)
        case .endlessHeader:
            try client.send(granted)
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

/// Two sockets, each of which gets the other's bytes, and the same kind of end: FIN as FIN, RST as RST.
private struct Tunnel: Sendable {
    let one: Int32
    let other: Int32

    /// Returns once both sides have sent everything, or either is gone.
    func run() {
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            pass(from: one, to: other)
            isDone.signal()
        }
        thread.start()
        pass(from: other, to: one)
        isDone.wait()
    }

    private func pass(from source: Int32, to target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = uninterrupted { buffer.withUnsafeMutableBytes { recv(source, $0.baseAddress, $0.count, 0) } }
            if count == 0 { return Sockets.finish(target) }
            if count < 0 || !sendAll(buffer.prefix(count), to: target) { break }
        }
        for descriptor in [source, target] {
            Sockets.resetOnClose(descriptor)
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private func sendAll(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = uninterrupted { rest.withUnsafeBytes { send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

extension ConnectProxy {
    /// The proxy's reply to a request that it accepts.
    enum Reply: Sendable {
        /// Grants the tunnel.
        case established
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

    struct Request: Sendable {
        /// The first is such as `CONNECT example.com:443 HTTP/1.1`.
        private let lines: [String]

        init(head: String) {
            lines = head.components(separatedBy: "\r\n")
        }

        /// Returns the values of the fields with a name, regardless of case.
        func values(_ name: String) -> [String] {
            let fields = lines.filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            return fields.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }

        /// Returns whether the request shows these credentials.
        func shows(_ credentials: Credentials) -> Bool {
            let words = values("Proxy-Authorization").first?.split(separator: " ").map(String.init) ?? []
            guard words.count == 2, words[0].lowercased() == "basic" else { return false }
            return Data(base64Encoded: words[1]) == Data("\(credentials.user):\(credentials.password)".utf8)
        }

        /// The requested address of the tunnel, such as `example.com:443`; nil if the request isn't a CONNECT.
        var target: String? {
            let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "CONNECT", words[2].hasPrefix("HTTP/1.") else { return nil }
            return String(words[1])
        }
    }
}
#endif
