import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The proxy's own connection to the server.
struct ServerSide {
    private enum Phase {
        case connecting, open
        /// The server accepts no more bytes. It may have sent some before.
        case deaf
        case closed
    }

    private var phase = Phase.closed
    private var addresses: ArraySlice<SocketAddress>
    private(set) var descriptor: Int32 = -1
    /// The bytes that the client sent and the server hasn't received.
    private(set) var queue = ByteQueue()
    private(set) var isBlocked = false
    private(set) var hasFinished = false

    init(addresses: [SocketAddress]) {
        self.addresses = addresses[...]
    }

    var isConnecting: Bool { phase == .connecting }
    var isClosed: Bool { phase == .closed }
    /// Indicates whether all bytes that the client sent have been passed on, or can't be.
    var isDone: Bool { hasFinished || phase == .deaf || phase == .closed }
    var canReceive: Bool { phase == .open || phase == .deaf }

    /// Starts connecting to the next address, and returns whether there was one.
    mutating func connect() -> Bool {
        while let address = addresses.popFirst() {
            // Fails, for example, for an address family that this machine doesn't have.
            guard let descriptor = try? Sockets.make(family: address.family) else { continue }
            let result = address.withPointer { systemConnect(descriptor, $0, $1) }
            if result == 0 || errno == EINPROGRESS || errno == EINTR {
                self.descriptor = descriptor
                phase = .connecting
                return true
            }
            Sockets.close(descriptor)
        }
        return false
    }

    /// Checks the result of connecting, once the socket is writable. Returns `false` if there is no address left to connect to.
    mutating func settleConnecting() -> Bool {
        var (address, addressLength) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &addressLength) }
        }
        if isConnected == 0 {
            phase = .open
            return true
        }
        var (error, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        guard error != 0 else { return true }
        close()
        return connect()
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if phase == .connecting || phase == .open { queue.append(bytes) }
    }

    /// Sends the waiting bytes, and FIN after them if the client's side has ended. Returns the number of bytes sent.
    mutating func send(thenFinish isLast: Bool) -> Int {
        guard phase == .open else { return 0 }
        isBlocked = false
        var count = 0
        while !queue.isEmpty {
            switch Sockets.send(descriptor, &queue) {
            case .bytes(let sent):
                count += sent
            case .notYet:
                isBlocked = true
                return count
            case .broken:
                phase = .deaf
                queue.removeAll()
                return count
            }
        }
        if isLast, !hasFinished {
            hasFinished = true
            Sockets.finish(descriptor)
        }
        return count
    }

    mutating func close() {
        if !isClosed { Sockets.close(descriptor) }
        phase = .closed
    }

    mutating func reset() {
        if !isClosed { Sockets.reset(descriptor) }
        phase = .closed
    }
}

private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}
