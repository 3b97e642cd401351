#if os(Linux)
import Glibc

/// The addresses of a name that were tried, and the reason why each one failed.
struct AddressRefusals {
    private var refusals: [(address: String, error: SystemError)] = []

    mutating func add(_ address: String, _ error: SystemError) {
        refusals.append((address, error))
    }

    /// Errors which only mean that this machine has no route to the address, such as an IPv6 address if there is only IPv4.
    private static let noRoute = [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT]

    /// Returns one failure for all of the addresses. Its kind is that of the last address to which there is a route.
    func failure(endpoint: String) -> TransportError {
        let list = refusals.map { "\($0.error.text) (address \($0.address))" }.joined(separator: ", ")
        let kind: TransportError.Kind =
            switch (refusals.last { !Self.noRoute.contains($0.error.number) } ?? refusals.last)?.error.number {
            case ECONNREFUSED: .connectionRefused
            case ETIMEDOUT: .noAnswer
            default: .unreachable
            }
        return TransportError(kind, "\(endpoint) can't be reached: \(list)")
    }
}

extension SystemError {
    /// The peer took too long.
    static let timedOut = SystemError(number: ETIMEDOUT)
}
#endif
