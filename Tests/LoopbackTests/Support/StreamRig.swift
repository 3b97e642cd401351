#if os(Linux)
import Glibc
import Processes
@testable import PusherChannels
@testable import TestSupport

/// A stream to a peer that is the test itself, on a loop each turn of which the test takes itself. For a thread that may block.
final class StreamRig: ByteStreamOwner {
    let loop: EventLoop
    /// The loop keeps it for as long as it isn't closed.
    private(set) weak var stream: ByteStream?
    /// The client's socket.
    let descriptor: Int32
    /// The peer's end of the connection.
    private(set) var peer: Int32
    private(set) var received: [UInt8] = []
    /// The times since which the bytes of each read came.
    private(set) var times: [Instant] = []
    private(set) var ends: [StreamEnd] = []
    /// Has the owner stop reading at each read, as one does that has to work off something large.
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
        // More than a read's worth can wait to be read.
        Sockets.set(descriptor, SOL_SOCKET, SO_RCVBUF, to: 1 << 20)
        stream.owner = self
        while !isConnected { turn(.untilNext) }
    }

    /// Runs `body` with a connected stream, and ends that. What it gives back is to be judged by the test, not by its thread.
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

    /// One turn of the loop; whether there is more to do at once.
    @discardableResult
    func turn(_ wait: EventLoop.Wait = .notAtAll) -> Bool {
        loop.wait(wait)
        return loop.settle()
    }

    /// Returns when the client's system has all that the peer sent.
    func waitUntilArrived() { Delivery.waitUntilArrived(from: peer) }

    // MARK: The peer

    /// Has the client start TLS, and goes on until the peer has said the last word of the handshake, which the client hasn't read.
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

    /// Sends bytes in records, of which the first is of another size than the rest: none ends where a read of the client does.
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

    /// Sends so many bytes, each in a record of its own, and all records in few segments: a segment takes room of its own.
    func sendEachInARecord(_ count: Int, over session: any ProxyStream) {
        Sockets.set(peer, SOL_SOCKET, SO_SNDBUF, to: 1 << 20)
        Sockets.set(peer, Int32(IPPROTO_TCP), TCP_CORK, to: 1)
        var queue = ByteQueue()
        [UInt8](repeating: 1, count: count).withUnsafeBytes { queue.append($0) }
        while !queue.isEmpty, case .bytes(let count) = session.send(queue, atMost: 1) { queue.removeFirst(count) }
        Sockets.set(peer, Int32(IPPROTO_TCP), TCP_CORK, to: 0)
        waitUntilArrived()
    }

    /// Resets the connection; the client's system knows of it then.
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
    func streamWritable() {}
    func streamEnded(_ end: StreamEnd) { ends.append(end) }
}
#endif
