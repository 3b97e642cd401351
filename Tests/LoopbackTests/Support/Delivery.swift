#if os(Linux)
import Glibc
@testable import TestSupport

/// Functions that wait until sent bytes have arrived at the other end of a connection, or were read there. That end must be on
/// this machine.
enum Delivery {
    /// Returns once the program at the other end has read all sent bytes, or after a very long time.
    static func waitUntilRead(from descriptor: Int32) {
        wait(at: descriptor) { Sockets.unacknowledged(descriptor) > 0 || unread(byPeerOf: descriptor) > 0 }
    }

    /// Returns once the system at the other end has all sent bytes, or after a very long time.
    static func waitUntilArrived(from descriptor: Int32) {
        wait(at: descriptor) { Sockets.unacknowledged(descriptor) > 0 }
    }

    private static func wait(at descriptor: Int32, while isTooEarly: () -> Bool) {
        var polled = pollfd(fd: descriptor, events: 0, revents: 0)
        var turns = 0
        while turns < 1000 * Patience.seconds, isTooEarly(), poll(&polled, 1, 1) == 0 { turns += 1 }
    }

    // MARK: Asking the system

    /// Returns the number of bytes that wait at the other end, according to `sock_diag(7)`; 0 if the system doesn't report it.
    private static func unread(byPeerOf descriptor: Int32) -> Int {
        let diagnosis = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 4)
        guard diagnosis >= 0 else { return 0 }
        defer { close(diagnosis) }
        let request = request(from: address(getpeername, descriptor), to: address(getsockname, descriptor))
        var reply = [UInt8](repeating: 0, count: 1024)
        guard send(diagnosis, request, request.count, 0) == request.count,
            recv(diagnosis, &reply, reply.count, 0) >= 76, reply[4] == 20
        else { return 0 }
        // nlmsghdr, then inet_diag_msg up to idiag_rqueue.
        return Int(reply.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 72, as: UInt32.self) })
    }

    /// SOCK_DIAG_BY_FAMILY for one TCP socket: nlmsghdr, then inet_diag_req_v2.
    private static func request(from own: [UInt8], to peer: [UInt8]) -> [UInt8] {
        let isIPv4 = own.withUnsafeBytes { $0.loadUnaligned(as: sa_family_t.self) } == sa_family_t(AF_INET)
        func host(_ address: [UInt8]) -> [UInt8] {
            isIPv4 ? address[4..<8] + [UInt8](repeating: 0, count: 12) : Array(address[8..<24])
        }
        let head: [UInt8] = number(72) + [20, 0, 1, 0] + number(1) + number(0)
        let kind: [UInt8] = [UInt8(isIPv4 ? AF_INET : AF_INET6), UInt8(IPPROTO_TCP), 0, 0] + number(.max)
        let ends: [UInt8] = own[2..<4] + peer[2..<4] + host(own) + host(peer)
        // Any interface, no cookie.
        return head + kind + ends + number(0) + number(.max) + number(.max)
    }

    private static func number(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    private static func address(
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32, _ descriptor: Int32
    ) -> [UInt8] {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = ask(descriptor, $0, &length) }
        }
        return withUnsafeBytes(of: address) { Array($0) }
    }
}
#endif
