import Foundation
import PusherChannels

/// A TCP proxy on this machine's loopback interface that does to connections what networks do.
///
/// ```swift
/// let proxy = try NetworkFaultProxy.start(to: server.host, port: server.port)
/// let client = Pusher(key: "local-key", options: .init(host: .host(proxy.host), port: proxy.port, useTLS: false))
/// try proxy.inject(.reset(after: .frames(3)), onConnection: 2)
/// ```
///
/// Positions count, for each connection by itself, what the server sends to the client; latency, bandwidth and dribble slow
/// that direction as well. What the client sends goes on at once. A fault whose position was passed already acts at once.
/// All members may be called from any thread; faults are in force when the call returns. A proxy that is let go stops.
public final class NetworkFaultProxy: Sendable {
    /// A proxy could not be started.
    public struct CannotStart: Error, Equatable, Sendable, CustomStringConvertible {
        /// Where its connections were to go.
        public let target: String
        /// The reason.
        public let reason: String

        /// Names the target and the reason.
        public var description: String { "no proxy to \(target): \(reason)" }
    }

    /// The address it listens on.
    public let host = "127.0.0.1"
    /// The port it listens on.
    public let port: Int
    /// The proxy's address for plain requests, `http://127.0.0.1:49152`.
    public let url: URL
    /// The proxy's address for sockets, `ws://127.0.0.1:49152`.
    public let webSocketURL: URL

    private let thread: ProxyThread

    private init(port: Int, url: URL, webSocketURL: URL, thread: ProxyThread) {
        self.port = port
        self.url = url
        self.webSocketURL = webSocketURL
        self.thread = thread
    }

    deinit {
        thread.stop()
    }

    /// Starts a proxy, which listens when this returns.
    ///
    /// Looks the host up, which blocks the calling thread where a name server is slow; an address or `localhost` is not.
    ///
    /// - Parameters:
    ///   - host: The name or address of the server that connections go to; its addresses are tried in turn.
    ///   - port: The server's port.
    ///   - listeningPort: The proxy's own port; 0 takes a free one.
    ///   - faults: What is injected before the first connection.
    /// - Throws: ``CannotStart``, at once: an unknown host, a port that is taken, a fault that no proxy can do.
    public static func start(
        to host: String, port: Int, listeningPort: Int = 0, faults: [Fault] = []
    ) throws(CannotStart) -> NetworkFaultProxy {
        let target = "\(host):\(port)"
        func refusal(_ reason: String) -> CannotStart { CannotStart(target: target, reason: reason) }
        guard let listeningPort = UInt16(exactly: listeningPort), (1...65535).contains(port) else {
            throw refusal("there is no such port")
        }
        for fault in faults {
            do throws(UnsupportedFault) { try fault.check(at: .networkFaultProxy) } catch { throw refusal("\(error)") }
        }
        let addresses = SocketAddress.resolve(host, port: port)
        guard !addresses.isEmpty else { throw refusal("no address found for \(host)") }
        do throws(Sockets.Failure) {
            let listener = try ProxyListener(port: listeningPort)
            let number = Int(listener.port)
            guard let url = URL(string: "http://127.0.0.1:\(number)"), let webSocketURL = URL(string: "ws://127.0.0.1:\(number)")
            else { throw Sockets.Failure("URL") }
            let core = ProxyCore(listener: listener, addresses: addresses, faults: faults) { PlainStream(descriptor: $0) }
            do throws(Sockets.Failure) {
                let thread = try ProxyThread(core)
                try thread.run()
                return NetworkFaultProxy(port: number, url: url, webSocketURL: webSocketURL, thread: thread)
            } catch {
                listener.close()
                throw error
            }
        } catch {
            throw refusal("can't listen on 127.0.0.1:\(listeningPort): \(error.description)")
        }
    }

    // MARK: Faults

    /// Has a fault act on all connections, those that are open and those to come.
    ///
    /// `refused` concerns new connections only. A new latency, bandwidth or dribble takes the place of the old one; of several
    /// stops the first that is reached acts, and at the same position reset goes before truncate, half-close and stall.
    ///
    /// - Throws: ``UnsupportedFault`` for a fault that doesn't exist at ``Fault/Seam/networkFaultProxy``.
    public func inject(_ fault: Fault) throws(UnsupportedFault) {
        try fault.check(at: .networkFaultProxy)
        thread.perform { $0.inject(fault) }
    }

    /// Has a fault act on one connection, open or to come: the first that was or is accepted is number 1.
    ///
    /// - Throws: ``UnsupportedFault`` for a fault that doesn't exist at ``Fault/Seam/networkFaultProxy``, and for `refused`:
    ///   nobody can count connections that there never were.
    public func inject(_ fault: Fault, onConnection number: Int) throws(UnsupportedFault) {
        try fault.check(at: .networkFaultProxy)
        guard fault != .refused else { throw UnsupportedFault(fault: fault, seam: .networkFaultProxy) }
        thread.perform { $0.inject(fault, onConnection: number) }
    }

    /// Takes all faults back. What stalled goes on; what was ended stays so.
    public func heal() {
        thread.perform { $0.heal() }
    }

    /// Resets all open connections at once, whatever is on its way; new ones are welcome.
    public func cutAll() {
        thread.perform { $0.cutAll() }
    }

    // MARK: What it has seen

    /// How many connections were accepted so far.
    public var connectionCount: Int { thread.counts.accepted }

    /// How many connections are open now.
    public var openConnectionCount: Int { thread.counts.open }

    /// How many bytes the clients were sent, over all connections; with TLS, what it carries.
    public var bytesToClients: Int { thread.counts.moved.toClient }

    /// How many bytes the server was sent, over all connections.
    public var bytesToServer: Int { thread.counts.moved.toServer }

    // MARK: Stopping

    /// Closes all connections and frees the port, and returns when that is done. Further calls do nothing.
    public func stop() {
        thread.stop()
    }
}
