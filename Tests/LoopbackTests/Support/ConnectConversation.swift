#if os(Linux)
import Foundation
import Glibc
import PusherChannels
@testable import TestSupport

/// One client's conversation with a ``ConnectProxy``: the request, the reply and the tunnel. Runs on its own thread.
struct ConnectConversation {
    /// The maximum length of a request's head.
    private static let longestHead = 1 << 16

    let client: Int32
    let settings: ConnectProxy.Settings
    let workers: Workers
    let requests: Record<ConnectProxy.Request>
    let openTunnels: Locked<Int>

    func run() {
        defer { workers.close(client) }
        guard let (head, rest) = readHead() else { return }
        let request = ConnectProxy.Request(head: head)
        requests.append(request)
        if request.target != nil {
            if isWelcome(request) {
                reply(rest: rest)
            } else {
                send(Self.refusal(407, #"Proxy-Authenticate: Basic realm="tests", charset="UTF-8""#))
            }
        } else {
            send(Self.refusal(400))
        }
    }

    /// Returns the request's head, and the bytes that arrived with it.
    private func readHead() -> (head: String, rest: [UInt8])? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < Self.longestHead {
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                return (String(decoding: bytes[..<end.upperBound], as: UTF8.self), Array(bytes[end.upperBound...]))
            }
        }
        return nil
    }

    private func isWelcome(_ request: ConnectProxy.Request) -> Bool {
        guard let credentials = settings.credentials else { return true }
        let words = request.values("Proxy-Authorization").first?.split(separator: " ").map(String.init) ?? []
        guard words.count == 2, words[0].lowercased() == "basic" else { return false }
        return Data(base64Encoded: words[1]) == Data("\(credentials.user):\(credentials.password)".utf8)
    }

    private func reply(rest: [UInt8]) {
        let granted = "200 Connection established\r\n"
        switch settings.reply {
        case .established(let cut):
            tunnel(rest: rest, head: "HTTP/1.1 \(granted)\r\n", cut: cut)
        case .establishedHTTP10:
            tunnel(rest: rest, head: "HTTP/1.0 \(granted)\r\n")
        case .establishedWithBodyLength:
            tunnel(rest: rest, head: "HTTP/1.1 \(granted)Content-Length: 100\r\n\r\n")
        case .establishedFollowed(let bytes):
            tunnel(rest: rest, head: "HTTP/1.1 \(granted)\r\n", followedBy: bytes)
        case .refused(let status):
            send(Self.refusal(status))
        case .garbage(let bytes):
            send(bytes)
        case .endlessHeader:
            guard send(Array("HTTP/1.1 \(granted)".utf8)) else { return }
            let fields = Array(String(repeating: "X-More: \(String(repeating: "x", count: 92))\r\n", count: 10).utf8)
            while send(fields) {}
        case .silence:
            waitForEnd()
        case .closed:
            break
        }
    }

    private static func refusal(_ status: Int, _ fields: String...) -> [UInt8] {
        let body = "the proxy says \(status)\n"
        let head = ["HTTP/1.1 \(status) Refused"]
        let common = ["Content-Type: text/plain", "Content-Length: \(body.utf8.count)", "Connection: close"]
        return Array(((head + fields + common).joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private func waitForEnd() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while recv(client, &buffer, buffer.count, 0) > 0 {}
    }

    @discardableResult
    private func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    // MARK: The tunnel

    private func tunnel(rest: [UInt8], head: String, cut: Cut = .nowhere, followedBy bytes: [UInt8] = []) {
        guard let server = try? Loopback.ipv4.connection(to: settings.target), workers.open(server) else {
            send(Self.refusal(502))
            return
        }
        openTunnels.withLock { $0 += 1 }
        defer {
            openTunnels.withLock { $0 -= 1 }
            workers.close(server)
        }
        for piece in cut.pieces(of: Array(head.utf8) + bytes) {
            guard send(piece) else { return }
            if case .nowhere = cut { break }
            Delivery.waitUntilRead(from: client)
        }
        var tunnel = Tunnel(client, server)
        tunnel.begin(with: rest)
        // Doesn't close the sockets: each is closed once, where it was opened, because its number may be reused at once.
        if tunnel.run() == .reset { for descriptor in [client, server] { Sockets.resetOnClose(descriptor) } }
    }
}
#endif
