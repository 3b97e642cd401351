#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension SocketAddress {
    private static let all = "0.0.0.0"
    private static let loopback = "127.0.0.1"

    /// Returns the address by which clients on this machine reach a listener.
    static func local(for listening: String) -> String { listening == all ? loopback : listening }

    /// Returns the addresses of this machine by which a listener is reached, the network's first.
    static func reachable(at listening: String) -> [String] {
        guard listening == all else { return [listening] }
        return interfaces().filter { !$0.hasPrefix("127.") } + [loopback]
    }

    /// The IPv4 addresses of this machine's interfaces that are up.
    private static func interfaces() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var names: [String] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_UP) != 0, let address = entry.ifa_addr,
                address.pointee.sa_family == sa_family_t(AF_INET)
            else { continue }
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, length, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else { continue }
            names.append(String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return names
    }
}
