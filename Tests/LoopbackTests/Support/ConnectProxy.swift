#if os(Linux)
import Foundation
import Glibc
import PusherChannels

/// A proxy for tests that makes tunnels with HTTP's CONNECT, only to this machine. It has its own port, and a thread for each
/// connection.
///
/// It connects to nothing before it grants a tunnel, and stops when it is deallocated.
final class ConnectProxy: Sendable {
    /// The user name and the password that a client must know to be served.
    struct Credentials: Sendable {
        let user: String
        let password: String
    }

    /// The settings that the threads of a proxy share.
    struct Settings: Sendable {
        var target: Int
        var credentials: Credentials?
        var reply: Reply
    }

    let port: Int
    /// The proxy's address, `http://127.0.0.1:49152`.
    let url: String
    /// The requests that the proxy received, in the order in which they were complete.
    let requests = Record<Request>()
    private let openTunnels = Locked(0)
    private let workers: Workers

    /// Starts a proxy, which listens when this returns.
    ///
    /// - Parameters:
    ///   - target: The port on this machine that all tunnels lead to, whatever address is requested.
    ///   - credentials: The credentials that clients must show (Basic); without them, they get 407.
    ///   - reply: The reply to a client that shows them.
    init(on address: Loopback = .ipv4, to target: Int, credentials: Credentials? = nil, reply: Reply = .established()) throws {
        let (listener, port) = try address.listener()
        self.port = port
        url = "http://\(address.authority(port))"
        workers = Workers(name: "connect-\(port)")
        let settings = Settings(target: target, credentials: credentials, reply: reply)
        guard workers.open(listener) else { return }
        workers.start { [workers, requests, openTunnels] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                guard workers.open(client) else { continue }
                workers.start {
                    let conversation = ConnectConversation(
                        client: client, settings: settings, workers: workers, requests: requests, openTunnels: openTunnels)
                    conversation.run()
                }
            }
            workers.close(listener)
        }
    }

    deinit {
        stop()
    }

    /// The number of tunnels that are open now.
    var openTunnelCount: Int { openTunnels.withLock { $0 } }

    /// Ends all connections and frees the port, and returns when that is done.
    func stop() {
        workers.stop()
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

        /// The requested address of the tunnel, such as `example.com:443`; nil if the request isn't a CONNECT.
        var target: String? {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "CONNECT", words[2].hasPrefix("HTTP/1.") else { return nil }
            return String(words[1])
        }
    }
}
#endif
