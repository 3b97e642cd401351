#if os(Linux)
import Foundation
import Glibc
@testable import TestSupport

/// An address of this machine that no other machine reaches.
enum Loopback: CaseIterable, Sendable {
    case ipv4, ipv6

    var host: String { self == .ipv4 ? "127.0.0.1" : "::1" }

    /// Returns a socket that listens on a free port.
    func listener() throws -> (descriptor: Int32, port: Int) {
        let descriptor = try make(port: 0) { bind($0, $1, $2) }
        guard listen(descriptor, 256) == 0 else { throw failure(closing: descriptor) }
        return (descriptor, Self.port(of: descriptor))
    }

    /// Returns a socket that is connected to a port.
    func connection(to port: Int) throws -> Int32 { try make(port: port) { connect($0, $1, $2) } }

    private func make(port: Int, _ use: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32) throws -> Int32 {
        guard let address = SocketAddress.resolve(host, port: port).first else { throw POSIXError(.EADDRNOTAVAIL) }
        let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, address.withPointer({ use(descriptor, $0, $1) }) == 0 else { throw failure(closing: descriptor) }
        // Pieces must be sent as they are; accepted sockets inherit this from their listener.
        Sockets.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        return descriptor
    }

    private func failure(closing descriptor: Int32) -> POSIXError {
        let code = errno
        close(descriptor)
        return POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }

    /// Returns a socket's own port, which has the same position in the addresses of both families.
    static func port(of descriptor: Int32) -> Int {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
        }
        return withUnsafeBytes(of: address) { Int($0[2]) << 8 | Int($0[3]) }
    }
}
#endif
