#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An error number of a system call.
struct SystemError: Error, Equatable, Sendable {
    let number: Int32

    /// The error of the call just made on this thread.
    static var last: SystemError { SystemError(number: errno) }

    /// The error's text in lowercase.
    var text: String { String(cString: strerror(number)).lowercased() }

    var isTemporary: Bool { number == EAGAIN || number == EWOULDBLOCK || number == EINTR }

    /// Indicates whether the machine or the process was short of something at the moment.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(number) }

    /// Indicates whether the peer must have accepted the connection before: it has reset it, or accepts no more data. If it never
    /// accepted it, the number is another one.
    var isOfConnected: Bool { number == ECONNRESET || number == EPIPE }
}
