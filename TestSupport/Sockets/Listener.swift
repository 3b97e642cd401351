#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A port that is either listened on, or held without listening so that connections are refused and no other process can take it.
struct Listener {
    private(set) var descriptor: Int32
    private(set) var isListening = true
    let port: UInt16
    private let address: SocketAddress

    init(_ address: SocketAddress) throws(Sockets.Failure) {
        // Not for a free port, because the system could choose one that another proxy only holds.
        let descriptor = try Self.bound(to: address, options: address.port == 0 ? [] : [SO_REUSEADDR])
        do throws(Sockets.Failure) {
            try Self.listen(descriptor)
            port = try Self.port(of: descriptor)
            self.address = address.with(port: port)
        } catch {
            Sockets.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Refuses connections, including those waiting to be accepted.
    mutating func refuse() throws(Sockets.Failure) {
        guard isListening else { return }
        // The port is never free: a second socket is bound to it before the first is closed. Both options are needed, one for the
        // listening socket and one for its connections. They are turned off again as soon as nothing needs them.
        Sockets.set(descriptor, SOL_SOCKET, SO_REUSEPORT)
        let placeholder = try Self.bound(to: address, options: [SO_REUSEADDR, SO_REUSEPORT])
        close()
        for option in [SO_REUSEADDR, SO_REUSEPORT] { Sockets.set(placeholder, SOL_SOCKET, option, to: 0) }
        descriptor = placeholder
        isListening = false
    }

    /// Listens again.
    mutating func resume() throws(Sockets.Failure) {
        guard !isListening else { return }
        try Self.listen(descriptor)
        isListening = true
    }

    /// Stops listening, even while a child process that is being spawned has a copy of the descriptor.
    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Sockets.close(descriptor)
    }

    private static func listen(_ descriptor: Int32) throws(Sockets.Failure) {
        // Otherwise earlier connections, open or just closed, would block the port.
        Sockets.set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        guard systemListen(descriptor, 256) == 0 else { throw Sockets.Failure("listen") }
    }

    private static func bound(to address: SocketAddress, options: [Int32]) throws(Sockets.Failure) -> Int32 {
        let descriptor = try Sockets.make(family: address.family)
        for option in options { Sockets.set(descriptor, SOL_SOCKET, option) }
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
            let failure = Sockets.Failure("bind")
            Sockets.close(descriptor)
            throw failure
        }
        return descriptor
    }

    private static func port(of descriptor: Int32) throws(Sockets.Failure) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard found == 0 else { throw Sockets.Failure("getsockname") }
        return UInt16(bigEndian: address.sin_port)
    }
}

// Inside `Listener`, `listen` is another function.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
