#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A numeric address: 4 bytes or 16.
struct IPAddress: Equatable, Sendable {
    let bytes: [UInt8]

    /// Creates an address from a text without brackets; a zone after `%` is left out.
    init?(_ text: String) {
        let text = String(text.prefix { $0 != "%" })
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: size)
            if inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// Indicates whether the address is in 127.0.0.0/8 or is ::1.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }
}

/// An address with the number of leading bits that count, such as `10.0.0.0/8`. Without a number, all bits count.
struct IPNetwork: Equatable, Sendable {
    let address: IPAddress
    let bits: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let size = address.bytes.count * 8
        guard let bits = parts.count == 1 ? size : Int(parts[1]), (0...size).contains(bits) else { return nil }
        self.address = address
        self.bits = bits
    }

    func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        return zip(address.bytes, other.bytes).enumerated().allSatisfy { index, pair in
            let counting = min(max(bits - 8 * index, 0), 8)
            return (pair.0 ^ pair.1) >> UInt8(8 - counting) == 0
        }
    }
}

/// Returns `host:port`, with brackets around an IPv6 address.
package func endpointName(host: String, port: Int) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
}
