#if os(Linux)
import COpenSSL
import Glibc
import Processes
@testable import PusherChannels
@testable import TestSupport

/// A stream whose peer is the test itself, on a loop whose turns the test runs. For a thread that may block.
final class StreamRig: ByteStreamOwner {
    let loop: EventLoop
    /// The stream, which the loop retains until it is closed.
    private(set) weak var stream: ByteStream?
    /// The client's socket.
    let descriptor: Int32
    /// The peer's end of the connection.
    private(set) var peer: Int32
    private(set) var received: [UInt8] = []
    /// For each read, the time since when its bytes may have arrived.
    private(set) var times: [Instant] = []
    private(set) var ends: [StreamEnd] = []
    /// How often the stream said that it has room again.
    private(set) var rooms = 0
    /// Indicates whether the owner stops reading at each read, as one does that is busy with something large.
    var stopsAtEachRead = false
    private var isConnected = false

    private init(_ environment: NetworkEnvironment) throws {
        loop = EventLoop(owner: NetworkLoop(environment: environment))
        let (listener, port) = try Loopback.ipv4.listener()
        defer { close(listener) }
        let stream = try ByteStream(to: "127.0.0.1", port: port, loop: loop)
        self.stream = stream
        peer = try Sockets.accept(listener)
        guard let descriptor = ProcessTables.descriptors(connectedTo: port).first else { throw Unexpected("no socket") }
        self.descriptor = descriptor
        // Lets more than a read's worth of bytes wait.
        Sockets.set(descriptor, SOL_SOCKET, SO_RCVBUF, to: 1 << 20)
        stream.owner = self
        while !isConnected { turn(.untilNext) }
    }

    /// Runs `body` with a connected stream, and then ends the stream. Check the returned value in the test, not in `body`, which
    /// runs on another thread.
    static func run<Result: Sendable>(
        _ environment: NetworkEnvironment = NetworkEnvironment(timeouts: .long),
        _ body: @escaping @Sendable (StreamRig) throws -> Result
    ) async throws -> Result {
        try await onThread {
            let rig = try StreamRig(environment)
            defer {
                rig.loop.shutDown()
                close(rig.peer)
            }
            return try body(rig)
        }
    }

    // MARK: Turns

    /// Runs one turn of the loop; returns whether there is more to do at once.
    @discardableResult
    func turn(_ wait: EventLoop.Wait = .notAtAll) -> Bool {
        loop.wait(wait)
        return loop.settle()
    }

    /// Returns once the client's system has all bytes that the peer sent.
    func waitUntilArrived() { Delivery.waitUntilArrived(from: peer) }

    // MARK: The peer

    /// Starts TLS on the client, and returns once the peer has sent the last message of the handshake, which the client hasn't
    /// read.
    func handshakeInTLS12() throws -> any ProxyStream {
        let certificate = try CertificateAuthority().issue()
        let server = try TestSupport.TLSContext(ServerTLS(versions: .tls12 ... .tls12), showing: certificate)
        let session = server.stream(over: peer)
        let configuration = TLSConfiguration(verification: .insecureAcceptAnyCertificate)
        stream?.startTLS(try loop.service(ConnectorResources.self).certificates.context(for: configuration), host: "localhost")
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            Delivery.waitUntilArrived(from: descriptor)
            _ = buffer.withUnsafeMutableBytes { session.receive(into: $0) }
            waitUntilArrived()
            if session.isReady { return session }
            turn()
        }
    }

    /// Does a handshake of TLS 1.3, after which the peer sends a ticket in several records; returns those behind the first one,
    /// and those of the data that follows, which aren't sent any more.
    func handshakeWithLongTicket(followedBy data: [UInt8] = []) throws -> [UInt8] {
        let certificate = try CertificateAuthority().issue()
        let server = try TestSupport.TLSContext(ServerTLS(versions: .tls13 ... .tls13), showing: certificate)
        SSL_CTX_set_num_tickets(server.context, 1)
        // SSL_OP_NO_TICKET, a macro that Swift can't import.
        SSL_CTX_clear_options(server.context, 1 << 14)
        SSL_CTX_ctrl(server.context, SSL_CTRL_SET_MAX_SEND_FRAGMENT, 512, nil)
        let lengthen: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { session, _ in
            SSL_SESSION_set1_ticket_appdata(SSL_get_session(session), [UInt8](repeating: 0, count: 2_000), 2_000)
        }
        SSL_CTX_set_session_ticket_cb(server.context, lengthen, nil, nil)
        // OpenSSL has one end of a pair of sockets, and what it sends is passed on from the other.
        var pair: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &pair) == 0 else {
            throw Unexpected("no pair of sockets")
        }
        defer { pair.forEach { close($0) } }
        let session = server.stream(over: pair[0])
        let configuration = TLSConfiguration(verification: .insecureAcceptAnyCertificate)
        stream?.startTLS(try loop.service(ConnectorResources.self).certificates.context(for: configuration), host: "localhost")
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        func pass(from one: Int32, to other: Int32) -> [UInt8] {
            let count = max(recv(one, &buffer, buffer.count, Int32(MSG_DONTWAIT)), 0)
            if other >= 0 { Glibc.send(other, buffer, count, 0) }
            return Array(buffer[..<count])
        }
        while true {
            Delivery.waitUntilArrived(from: descriptor)
            _ = pass(from: peer, to: pair[1])
            _ = buffer.withUnsafeMutableBytes { session.receive(into: $0) }
            if session.isReady { break }
            _ = pass(from: pair[1], to: peer)
            waitUntilArrived()
            turn()
        }
        send(data, over: session)
        let ticket = pass(from: pair[1], to: -1)
        let first = 5 + Int(ticket[3]) << 8 + Int(ticket[4])
        send(Array(ticket[..<first]))
        return Array(ticket[first...])
    }

    /// Sends bytes in records, the first of which has a different size, so that none ends where a read of the client does.
    func send(_ bytes: [UInt8], over session: any ProxyStream) {
        var queue = ByteQueue()
        bytes.withUnsafeBytes { queue.append($0) }
        var limit = 1000
        while !queue.isEmpty, case .bytes(let count) = session.send(queue, atMost: limit) {
            queue.removeFirst(count)
            limit = .max
        }
        waitUntilArrived()
    }

    /// Sends `count` bytes, each in its own record, and all records in few segments, because each segment takes up additional
    /// space.
    func sendEachInARecord(_ count: Int, over session: any ProxyStream) {
        Sockets.set(peer, SOL_SOCKET, SO_SNDBUF, to: 1 << 20)
        Sockets.set(peer, Int32(IPPROTO_TCP), TCP_CORK, to: 1)
        var queue = ByteQueue()
        [UInt8](repeating: 1, count: count).withUnsafeBytes { queue.append($0) }
        while !queue.isEmpty, case .bytes(let count) = session.send(queue, atMost: 1) { queue.removeFirst(count) }
        Sockets.set(peer, Int32(IPPROTO_TCP), TCP_CORK, to: 0)
        waitUntilArrived()
    }

    /// Resets the connection, and returns whether the client's system has learned of it in time.
    func reset() -> Bool {
        Sockets.reset(peer)
        peer = -1
        return Readiness.gone.wait(for: descriptor)
    }

    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Sockets.send(peer, $0) }
        waitUntilArrived()
    }

    // MARK: The stream

    func streamConnected() { isConnected = true }
    func streamReceived(_ bytes: UnsafeRawBufferPointer, since time: Instant) {
        received += bytes
        times.append(time)
        if stopsAtEachRead { stream?.setReading(false) }
    }
    func streamWritable() { rooms += 1 }
    func streamEnded(_ end: StreamEnd) { ends.append(end) }
}
#endif
