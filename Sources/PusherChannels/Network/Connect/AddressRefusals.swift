#if os(Linux)
import Glibc

/// Which addresses of a name were tried, and why each was no good.
struct AddressRefusals {
    private var refusals: [(address: String, error: SystemError)] = []

    mutating func add(_ address: String, _ error: SystemError) {
        refusals.append((address, error))
    }

    /// Errors which only say that this machine has no route to such an address, as to one of IPv6 if there is IPv4 alone.
    private static let noRoute = [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT]

    /// The one report of all of them; its kind is that of the last to which there is a way.
    func failure(endpoint: String) -> WebSocketFailure {
        let list = refusals.map { "\($0.error.text) (address \($0.address))" }.joined(separator: ", ")
        let kind: WebSocketFailure.Kind =
            switch (refusals.last { !Self.noRoute.contains($0.error.number) } ?? refusals.last)?.error.number {
            case ECONNREFUSED: .connectionRefused
            case ETIMEDOUT: .timedOut
            default: .unreachable
            }
        return WebSocketFailure(kind, "\(endpoint) can't be reached: \(list)")
    }
}

extension SystemError {
    /// The other end took too long.
    static let timedOut = SystemError(number: ETIMEDOUT)
}
#endif
