#if os(Linux)
import Glibc

/// A TCP socket that never blocks, isn't inherited by child processes, and raises no signal when the peer is gone.
struct TCPSocket {
    let descriptor: Int32

    /// The outcome of a read.
    enum Received {
        case bytes(Int)
        case nothingYet
        /// The peer has sent all of its data.
        case ended
        case broken(SystemError)
    }

    /// Starts to connect to a numeric address; the socket becomes writable when that has succeeded or failed.
    static func connect(to address: String, port: Int) throws(SystemError) -> TCPSocket {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        defer { if let list { freeaddrinfo(list) } }
        guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let target = list?.pointee else {
            throw SystemError(number: EADDRNOTAVAIL)
        }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(target.ai_family, type, 0)
        guard descriptor >= 0 else { throw .last }
        // Sends each frame when it is written, instead of waiting for more.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        guard Glibc.connect(descriptor, target.ai_addr, target.ai_addrlen) == 0 || errno == EINPROGRESS else {
            let error = SystemError.last
            Glibc.close(descriptor)
            throw error
        }
        return TCPSocket(descriptor: descriptor)
    }

    /// The error with which connecting failed; `nil` if it succeeded.
    var connectionError: SystemError? {
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 else { return .last }
        return number == 0 ? nil : SystemError(number: number)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        let error = SystemError.last
        return error.isTemporary ? .nothingYet : .broken(error)
    }

    /// Sends bytes and returns the number that were accepted.
    func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        guard count < 0 else { return count }
        let error = SystemError.last
        guard error.isTemporary else { throw error }
        return 0
    }

    /// Closes the connection for the peer too, even if another process still has the socket.
    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
    }

    /// Tells the peer that nothing follows.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }
}
#endif
