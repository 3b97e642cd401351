#if os(Linux)
import Foundation
import Glibc

/// A port on this machine for servers that come and go. While none listens, connections to it are refused, and the system doesn't
/// reuse it. The port of a server that has ended might otherwise go to any connection that is made meanwhile.
package enum HeldPort {
    /// Takes a free port. It is held until the descriptor is closed.
    package static func take() throws -> (port: Int, descriptor: Int32) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure(closing: nil) }
        // Allows a server to listen on the port beside this socket, which doesn't listen.
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw failure(closing: descriptor) }
        return (Int(UInt16(bigEndian: address.sin_port)), descriptor)
    }

    private static func failure(closing descriptor: Int32?) -> POSIXError {
        let code = errno
        if let descriptor { close(descriptor) }
        return POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
}
#endif
