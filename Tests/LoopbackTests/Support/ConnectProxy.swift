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
        var target: Int?
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
    /// The name of its threads in the system's lists.
    var threadName: String { workers.name }

    /// Starts a proxy, which listens when this returns.
    ///
    /// - Parameters:
    ///   - target: The port on this machine that all tunnels lead to, whatever address is requested; with `nil`, a tunnel leads
    ///     to the requested address if that is on this machine.
    ///   - credentials: The credentials that clients must show (Basic); without them, they get 407.
    ///   - reply: The reply to a client that shows them.
    init(
        on address: Loopback = .ipv4, to target: Int? = nil, credentials: Credentials? = nil, reply: Reply = .established()
    ) throws {
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
#endif
