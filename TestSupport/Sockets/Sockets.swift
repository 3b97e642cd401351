import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The system calls on TCP sockets that the proxy and the server need. None of them blocks or returns early because of a signal. Child
/// processes don't inherit the sockets, except for one that is started between accepting a connection and marking it as
/// close-on-exec.
enum Sockets {
    /// The reason why a call failed.
    struct Failure: Error {
        let call: String
        let code: Int32

        init(_ call: String) {
            self.call = call
            code = errno
        }

        var description: String { "\(call): \(reason)" }

        /// The system's reason.
        var reason: String { String(cString: strerror(code)) }
    }

    /// The outcome of a read.
    enum Received: Equatable {
        case bytes(Int)
        case nothingYet, end, reset
    }

    /// The outcome of a write.
    enum Sent: Equatable {
        case bytes(Int)
        case notYet, broken
    }

    static func make(family: Int32) throws(Failure) -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
        let descriptor = socket(family, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure("socket") }
        prepare(descriptor)
        return descriptor
    }

    /// Accepts the next connection of a listener.
    static func accept(_ listener: Int32) throws(Failure) -> Int32 {
        while true {
            let descriptor = systemAccept(listener)
            if descriptor >= 0 {
                prepare(descriptor)
                return descriptor
            }
            if errno != EINTR, errno != ECONNABORTED { throw Failure("accept") }
        }
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // The pieces of a dribble must be sent as they are, and small messages at once.
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        #if canImport(Darwin)
        set(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
        #endif
    }

    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32 = 1) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns a copy of a descriptor that child processes don't inherit, or a negative number if it can't be copied.
    static func copy(of descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

    static func isListening(_ descriptor: Int32) -> Bool {
        var isListening: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0 && isListening != 0
    }

    // MARK: Bytes

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .nothingYet
            default: return .reset
            }
        }
    }

    /// Returns whether there is something to receive, if only the end.
    static func hasBytes(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) >= 0 || errno != EAGAIN && errno != EINTR
    }

    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Sent {
        while true {
            let count = systemSend(descriptor, bytes.baseAddress, bytes.count, noSignal)
            if count >= 0 { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .notYet
            default: return .broken
            }
        }
    }

    /// Sends bytes from the front of a queue and removes them.
    static func send(_ descriptor: Int32, _ queue: inout ByteQueue, atMost limit: Int = .max) -> Sent {
        let sent = queue.withPrefix(limit) { send(descriptor, $0) }
        if case .bytes(let count) = sent { queue.removeFirst(count) }
        return sent
    }

    // MARK: Ends

    /// Ends this side of a connection (FIN).
    static func finish(_ descriptor: Int32) {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes with RST instead of FIN, without sending the remaining bytes.
    static func reset(_ descriptor: Int32) {
        resetOnClose(descriptor)
        close(descriptor)
    }

    /// Makes a later close of the descriptor send RST, no matter which code closes it.
    static func resetOnClose(_ descriptor: Int32) {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    static func close(_ descriptor: Int32) {
        _ = systemClose(descriptor)
    }

    /// Returns the number of bytes that the peer's system hasn't acknowledged.
    static func unacknowledged(_ descriptor: Int32) -> Int {
        #if os(Linux)
        var count: Int32 = 0
        return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        #else
        var count: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? Int(count) : 0
        #endif
    }
}

// Inside `Sockets`, these names are other functions.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}

private func systemAccept(_ listener: Int32) -> Int32 {
    accept(listener, nil, nil)
}

#if os(Linux)
private let noSignal = Int32(MSG_NOSIGNAL)
#else
private let noSignal: Int32 = 0
#endif
