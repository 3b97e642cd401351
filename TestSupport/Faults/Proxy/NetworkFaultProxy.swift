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
/// that direction as well. The client's bytes are passed on at once. A fault whose position was passed already acts at once; only
/// a reset waits for the client to have said something, five seconds at most, as it would look like a refusal to some.
/// Of TLS that it only passes on it sees bytes, and no frames: faults at frames and of frames do nothing there. Give it `tls`, and a server
/// without, for these. All members may be called from any thread; faults are in force when the call returns. A proxy that is let go stops.
public final class NetworkFaultProxy: Sendable {
    /// A proxy could not be started.
    public struct CannotStart: Error, Equatable, Sendable, CustomStringConvertible {
        /// The host and port that its connections were for.
        public let target: String
        /// The reason.
        public let reason: String

        /// Names the target and the reason.
        public var description: String { "no proxy to \(target): \(reason)" }
    }

    /// The address that clients on this machine reach it by: the one it listens on, of all of them `127.0.0.1`.
    public let host: String
    /// The port it listens on.
    public let port: Int
    /// The proxy's address for requests, `http://127.0.0.1:49152`; `https` with TLS.
    public let url: URL
    /// The proxy's address for sockets, `ws://127.0.0.1:49152`; `wss` with TLS.
    public let webSocketURL: URL
    /// The issuer of the proxy's certificate, the authority at the top; `nil` without TLS.
    public let certificateAuthority: CertificateAuthority?

    private let thread: ProxyThread

    private init?(host listening: String, port: Int, certificate: IssuedCertificate?, thread: ProxyThread) {
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
    /// Looks the host up, which blocks the calling thread where a name server is slow; an address or `localhost` is not.
    ///
    /// - Parameters:
    ///   - host: The name or address of the server that connections go to; its addresses are tried in turn.
    ///   - port: The server's port.
    ///   - listeningHost: The proxy's own address; `0.0.0.0` stands for all of this machine's, which others reach.
    ///   - listeningPort: The proxy's own port; 0 takes a free one.
    ///   - faults: Faults that are injected before the first connection.
    ///   - tls: Has the proxy speak TLS with its clients, and pass on what that carries; positions then count the latter.
    ///     A fault that ends a connection does so without close_notify, and at the start without a handshake.
    /// - Throws: ``CannotStart``, at once: an unknown host, a port that is taken, a fault that no proxy can do, or TLS where
    ///   there is none.
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
            let listener = try ProxyListener(listeningAddress)
            let core = ProxyCore(listener: listener, addresses: addresses, faults: faults, wrap: wrap)
            // From here on the thread closes the listener, if need be when the proxy is let go.
            let thread = try ProxyThread(core)
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

    /// Takes all faults back. Stalled connections go on; ended ones stay so.
    public func heal() {
        thread.perform { $0.heal() }
    }

    /// Resets all open connections at once, whatever is on its way; new ones are welcome.
    public func cutAll() {
        thread.perform { $0.cutAll() }
    }

    // MARK: Observations

    /// The number of connections that were accepted so far.
    public var connectionCount: Int { thread.counts.accepted }

    /// The number of connections that are open now.
    public var openConnectionCount: Int { thread.counts.open }

    /// The number of bytes the clients were sent, over all connections; with TLS, what it carries.
    public var bytesToClients: Int { thread.counts.moved.toClient }

    /// The number of bytes the server was sent, over all connections.
    public var bytesToServer: Int { thread.counts.moved.toServer }

    // MARK: Stopping

    /// Closes all connections and frees the port, and returns when that is done. Further calls do nothing.
    public func stop() {
        thread.stop()
    }
}
