#if os(Linux)
import Foundation
import Glibc
@testable import TestSupport

/// An address of this machine that no other machine reaches.
enum Loopback: CaseIterable, Sendable {
    case ipv4, ipv6

    var host: String { self == .ipv4 ? "127.0.0.1" : "::1" }

    /// Returns the host and a port as they are written in addresses.
    func authority(_ port: Int) -> String { self == .ipv4 ? "\(host):\(port)" : "[\(host)]:\(port)" }

    /// Returns a socket that is bound to a free port but doesn't listen.
    private func bound() throws -> (descriptor: Int32, port: Int) {
        let descriptor = try make()
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isBound =
            withAddress(port: 0) { bind(descriptor, $0, $1) } == 0
            && withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            } == 0
        guard isBound else { throw failure(closing: descriptor) }
        return (descriptor, Self.port(of: address))
    }

    /// Returns a socket that listens on a free port.
    func listener() throws -> (descriptor: Int32, port: Int) {
        let (descriptor, port) = try bound()
        guard listen(descriptor, 256) == 0 else { throw failure(closing: descriptor) }
        return (descriptor, port)
    }

    /// Returns a socket that is connected to a port.
    func connection(to port: Int) throws -> Int32 {
        let descriptor = try make()
        guard withAddress(port: port, { connect(descriptor, $0, $1) }) == 0 else { throw failure(closing: descriptor) }
        return descriptor
    }

    private func make() throws -> Int32 {
        let family = self == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        // Pieces must be sent as they are; accepted sockets inherit this from their listener.
        Sockets.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        return descriptor
    }

    private func failure(closing descriptor: Int32) -> POSIXError {
        let code = errno
        close(descriptor)
        return POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }

    private func withAddress<Result>(
        port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        let port = UInt16(truncatingIfNeeded: port).bigEndian
        switch self {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port
            address.sin6_addr = in6addr_loopback
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }

    /// Returns the port, which has the same position in the addresses of both families.
    private static func port(of address: sockaddr_storage) -> Int {
        withUnsafeBytes(of: address) { Int($0[2]) << 8 | Int($0[3]) }
    }
}
#endif
