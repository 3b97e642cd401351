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
/// Positions count what the server sends to the client, separately for each connection. Latency, bandwidth and dribble slow down
/// that direction, too; the client's bytes are passed on at once. A fault whose position has already passed takes effect at once.
/// Only a reset waits until the client has sent something, for five seconds at most, because some clients would take it for a
/// refusal. If the proxy only passes TLS on, it sees bytes but no frames, so faults that depend on frames have no effect. For
/// these, give the proxy `tls` and use a server without TLS. All members may be called from any thread; faults are in effect when
/// the call returns. A proxy stops when it is deallocated.
public final class NetworkFaultProxy: Sendable {
    /// An error that is thrown when a proxy can't be started.
    public struct CannotStart: Error, Equatable, Sendable, CustomStringConvertible {
        /// The host and port that the proxy was to connect to.
        public let target: String
        /// The reason.
        public let reason: String

        /// Names the target and the reason.
        public var description: String { "no proxy to \(target): \(reason)" }
    }

    /// The address by which clients on this machine reach the proxy: the one it listens on, or `127.0.0.1` if it listens on all.
    public let host: String
    /// The port it listens on.
    public let port: Int
    /// The proxy's address for requests, `http://127.0.0.1:49152`; `https` with TLS.
    public let url: URL
    /// The proxy's address for sockets, `ws://127.0.0.1:49152`; `wss` with TLS.
    public let webSocketURL: URL
    /// The root authority of the proxy's certificate; `nil` without TLS.
    public let certificateAuthority: CertificateAuthority?

    private let thread: SocketThread<ProxyCore>

    private init?(host listening: String, port: Int, certificate: IssuedCertificate?, thread: SocketThread<ProxyCore>) {
        let host = SocketAddress.local(for: listening)
        let secure = certificate == nil ? "" : "s"
        guard let url = URL(string: "http\(secure)://\(host):\(port)"),
            let webSocketURL = URL(string: "ws\(secure)://\(host):\(port)")
        else { return nil }
        self.host = host
        self.port = port
        self.url = url
        self.webSocketURL = webSocketURL
        certificateAuthority = certificate?.authority.root
        self.thread = thread
    }

    deinit {
        thread.stop()
    }

    /// Starts a proxy, which listens when this returns.
    ///
    /// Looks up the host, which blocks the calling thread if a name server is slow. An address or `localhost` is found at once.
    ///
    /// - Parameters:
    ///   - host: The name or address of the server that connections go to; its addresses are tried in turn.
    ///   - port: The server's port.
    ///   - listeningHost: The proxy's own address. `0.0.0.0` stands for all addresses of this machine, which other machines can
    ///     reach.
    ///   - listeningPort: The proxy's own port; 0 takes a free one.
    ///   - faults: The faults to inject before the first connection.
    ///   - tls: The TLS settings for the proxy's clients; `nil` for no TLS. With TLS, the proxy passes on decrypted bytes, and
    ///     positions count those. A fault that ends a connection does so without close_notify, and at the start without a
    ///     handshake.
    /// - Throws: ``CannotStart``, at once, for an unknown host, a port that is taken, a fault that proxies don't support, or TLS
    ///   on a platform that doesn't have it.
    public static func start(
        to host: String, port: Int, listeningHost: String = "127.0.0.1", listeningPort: Int = 0, faults: [Fault] = [],
        tls: ServerTLS? = nil
    ) throws(CannotStart) -> NetworkFaultProxy {
        let target = "\(host):\(port)"
        func refusal(_ reason: String) -> CannotStart { CannotStart(target: target, reason: reason) }
        guard let listeningPort = UInt16(exactly: listeningPort), (1...65535).contains(port) else {
            throw refusal("there is no such port")
        }
        guard let listeningAddress = SocketAddress(ip4: listeningHost, port: listeningPort) else {
            throw refusal("can't listen on \(listeningHost), which is no IPv4 address")
        }
        for fault in faults {
            do throws(UnsupportedFault) { try fault.check(at: .networkFaultProxy) } catch { throw refusal("\(error)") }
        }
        let addresses = SocketAddress.resolve(host, port: port)
        guard !addresses.isEmpty else { throw refusal("no address found for \(host)") }
        let certificate: IssuedCertificate?
        let wrap: ProxyCore.Wrap
        do throws(TLSFixtureError) {
            (certificate, wrap) = try streams(tls, for: listeningHost)
        } catch {
            throw refusal("\(error)")
        }
        do throws(Sockets.Failure) {
            let inbox = try SocketInbox<ProxyCore>()
            let listener = try Listener(listeningAddress)
            let core = ProxyCore(listener: listener, addresses: addresses, faults: faults, wrap: wrap)
            // From here on the thread closes the listener, if need be when the proxy is deallocated.
            let thread = SocketThread("fault-proxy", core, inbox: inbox)
            guard
                let proxy = NetworkFaultProxy(
                    host: listeningHost, port: Int(listener.port), certificate: certificate, thread: thread)
            else {
                throw Sockets.Failure("URL")
            }
            try thread.run()
            return proxy
        } catch {
            throw refusal("can't listen on \(listeningHost):\(listeningPort): \(error.description)")
        }
    }

    private static func streams(
        _ tls: ServerTLS?, for host: String
    ) throws(TLSFixtureError) -> (IssuedCertificate?, ProxyCore.Wrap) {
        guard let tls else { return (nil, { PlainStream(descriptor: $0) }) }
        let addresses = SocketAddress.reachable(at: host).filter { $0 != "127.0.0.1" } + ["127.0.0.1", "::1"]
        let certificate =
            if let certificate = tls.certificate { certificate } else { try CertificateAuthority().issue(addresses: addresses) }
        let context = try TLSContext(tls, showing: certificate)
        return (certificate, { context.stream(over: $0) })
    }

    // MARK: Faults

    /// Injects a fault into all connections, open and future ones.
    ///
    /// `refused` affects new connections only. A new latency, bandwidth or dribble replaces the old one. Of several faults that
    /// stop the flow of bytes, the first one reached takes effect; at the same position, reset takes precedence over truncate,
    /// truncate over half-close, and half-close over stall.
    ///
    /// - Throws: ``UnsupportedFault`` for a fault that ``Fault/Seam/networkFaultProxy`` doesn't support.
    public func inject(_ fault: Fault) throws(UnsupportedFault) {
        try fault.check(at: .networkFaultProxy)
        thread.inbox.perform { $0.inject(fault) }
    }

    /// Injects a fault into one connection, open or future. The first connection that is accepted is number 1. A fault for a
    /// connection that has ended, or never comes, becomes one of the ``findings``, unless the proxy is stopped already.
    ///
    /// - Throws: ``UnsupportedFault`` for a fault that ``Fault/Seam/networkFaultProxy`` doesn't support, and for `refused`,
    ///   because refused connections can't be counted.
    public func inject(_ fault: Fault, onConnection number: Int) throws(UnsupportedFault) {
        try fault.check(at: .networkFaultProxy)
        guard fault != .refused else { throw UnsupportedFault(fault: fault, seam: .networkFaultProxy) }
        thread.inbox.perform { $0.inject(fault, onConnection: number) }
    }

    /// Removes all faults. Stalled connections continue; ended ones stay ended.
    public func heal() {
        thread.inbox.perform { $0.heal() }
    }

    /// Resets all open connections at once, even with bytes on their way. New connections are still accepted.
    public func cutAll() {
        thread.inbox.perform { $0.cutAll() }
    }

    // MARK: Observations

    /// The findings for a test's end: faults for one connection that had already ended, or that never came. A ``TestHarness``
    /// checks them.
    public var findings: [Finding] {
        let counts = thread.counts
        return SocketFaults.findings(
            late: counts.lateFaults, counts.faultsOfOne, connections: counts.accepted, of: "the proxy at \(host):\(port)")
    }

    /// The number of connections accepted so far.
    public var connectionCount: Int { thread.counts.accepted }

    /// The number of connections that are open now.
    public var openConnectionCount: Int { thread.counts.open }

    /// The number of bytes sent to clients, over all connections; with TLS, before encryption.
    public var bytesToClients: Int { thread.counts.moved.toClient }

    /// The number of bytes sent to the server, over all connections.
    public var bytesToServer: Int { thread.counts.moved.toServer }

    // MARK: Stopping

    /// Closes all connections and frees the port, and returns when that is done. Further calls do nothing.
    public func stop() {
        thread.stop()
    }
}
