#if os(Linux)
import Glibc

/// A TCP socket that never blocks; it isn't inherited by child processes, and a peer that is gone raises no signal.
struct TCPSocket {
    let descriptor: Int32

    /// The end of a read.
    enum Received {
        case bytes(Int)
        case nothingYet
        /// The peer has sent its last.
        case ended
        case broken(SystemError)
    }

    /// Starts to connect to a numeric address; the socket can be written once that is done, in whichever way.
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
        // A frame is sent when it is written, not when there are more.
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        guard Glibc.connect(descriptor, target.ai_addr, target.ai_addrlen) == 0 || errno == EINPROGRESS else {
            let error = SystemError.last
            Glibc.close(descriptor)
            throw error
        }
        return TCPSocket(descriptor: descriptor)
    }

    /// The reason why connecting failed; nil if it didn't.
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

    /// Returns how many bytes were taken.
    func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        guard count < 0 else { return count }
        let error = SystemError.last
        guard error.isTemporary else { throw error }
        return 0
    }

    /// Also for the peer, whoever has the socket beside us.
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
