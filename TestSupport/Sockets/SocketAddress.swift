#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An address in the form that system calls take.
struct SocketAddress: Sendable {
    private let bytes: [UInt8]
    let family: Int32

    /// Creates an address from an IPv4 address such as `127.0.0.1` and a port; `nil` if it isn't an IPv4 address.
    init?(ip4 host: String, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return nil }
        self.init(address)
    }

    private init(_ address: sockaddr_in) {
        bytes = withUnsafeBytes(of: address) { Array($0) }
        family = AF_INET
    }

    private init(_ entry: addrinfo) {
        bytes = Array(UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen)))
        family = entry.ai_family
    }

    /// Returns the addresses of a host; none if it has none. May take long if a name server doesn't respond.
    static func resolve(_ host: String, port: Int) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { if let list { freeaddrinfo(list) } }
        return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap {
            $0.map { SocketAddress($0.pointee) }
        }
    }

    /// The port of an IPv4 address.
    var port: UInt16 { UInt16(bigEndian: ip4.sin_port) }

    /// Returns this IPv4 address with another port.
    func with(port: UInt16) -> SocketAddress {
        var address = ip4
        address.sin_port = port.bigEndian
        return SocketAddress(address)
    }

    private var ip4: sockaddr_in { bytes.withUnsafeBytes { $0.loadUnaligned(as: sockaddr_in.self) } }

    /// Calls `body` with the address in the form that system calls take.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
        bytes.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
    }
}
