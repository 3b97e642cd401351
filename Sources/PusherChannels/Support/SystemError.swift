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

    /// That of the call just made on this thread.
    static var last: SystemError { SystemError(number: errno) }

    /// Its text, without a capital.
    var text: String { String(cString: strerror(number)).lowercased() }

    var isTemporary: Bool { number == EAGAIN || number == EWOULDBLOCK || number == EINTR }

    /// Indicates whether the machine or the process had too little of something at the moment.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(number) }

    /// Indicates whether only a peer that took the connection can be the cause: it reset it before, or after, it said that it has sent
    /// its last. To somebody who doesn't take one the system answers with another number.
    var isOfConnected: Bool { number == ECONNRESET || number == EPIPE }
}
