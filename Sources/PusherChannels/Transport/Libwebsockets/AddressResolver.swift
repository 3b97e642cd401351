#if canImport(CLibwebsockets)
import Dispatch
import Glibc

/// Turns host names into addresses, away from the service thread: `getaddrinfo` may take ten seconds and more.
///
/// Questions for the same name that come while one is under way share its answer, so that a service which reconnects
/// thousands of sockets asks once.
final class AddressResolver: Sendable {
    typealias Answer = Result<[String], WebSocketFailure>
    typealias Resolve = @Sendable (_ host: String, _ completion: @escaping @Sendable (Answer) -> Void) -> Void

    static let shared = AddressResolver()

    private let waiting = Locked<[String: [@Sendable (Answer) -> Void]]>([:])
    private let queue = DispatchQueue(label: "pusher-channels.resolver", attributes: .concurrent)

    /// Calls back on another thread with the numeric addresses of a host in the order to try them, or with the reason for none.
    ///
    /// A lookup can't be stopped; who no longer wants the answer ignores it.
    func resolve(_ host: String, completion: @escaping @Sendable (Answer) -> Void) {
        let first = waiting.withLock { waiting in
            waiting[host, default: []].append(completion)
            return waiting[host]?.count == 1
        }
        guard first else { return }
        queue.async {
            let answer = Self.look(up: host)
            let completions = self.waiting.withLock { $0.removeValue(forKey: host) }
            for completion in completions ?? [] {
                completion(answer)
            }
        }
    }

    private static func look(up host: String) -> Answer {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let error = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard error == 0 else {
            let reason = String(cString: gai_strerror(error))
            return .failure(WebSocketFailure(.hostNotFound, "No address found for \(host): \(reason)"))
        }
        var addresses: [String] = []
        var entry = list
        while let current = entry?.pointee {
            if let address = numeric(current), !addresses.contains(address) {
                addresses.append(address)
            }
            entry = current.ai_next
        }
        return addresses.isEmpty
            ? .failure(WebSocketFailure(.hostNotFound, "No address found for \(host)")) : .success(alternating(addresses))
    }

    /// IPv6 and IPv4 by turns (RFC 8305, 4), beginning as the system has it: where one of them leads nowhere in silence, which is common,
    /// not all of its addresses are waited for before the first of the other.
    static func alternating(_ addresses: [String]) -> [String] {
        let isFirstFamily = { (address: String) in address.contains(":") == addresses.first?.contains(":") }
        let (first, second) = (addresses.filter(isFirstFamily), addresses.filter { !isFirstFamily($0) })
        let pairs = zip(first, second).flatMap { [$0, $1] }
        return pairs + first.dropFirst(second.count) + second.dropFirst(first.count)
    }

    private static func numeric(_ entry: addrinfo) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { buffer in
            guard let text = buffer.baseAddress,
                getnameinfo(entry.ai_addr, entry.ai_addrlen, text, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
            else { return nil }
            return String(cString: text)
        }
    }
}
#endif
