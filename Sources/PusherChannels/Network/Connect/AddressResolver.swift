#if os(Linux)
import Glibc

/// Resolves host names to addresses, off the service thread, because `getaddrinfo` may take ten seconds and more.
///
/// Callers that request a name while it is being looked up share the result: a service that reconnects thousands of sockets looks
/// it up once.
final class AddressResolver: Sendable {
    typealias Resolution = Result<[String], WebSocketFailure>
    typealias Resolve = @Sendable (_ host: String, _ completion: @escaping @Sendable (Resolution) -> Void) -> Void

    /// The time that a caller waits for a result, and the time that the first look-up of a name may take before another one
    /// begins.
    static let patience = Duration.seconds(20)

    static let shared = AddressResolver(look: { look(up: $0) })

    private struct Waiter {
        let time: Instant
        let completion: @Sendable (Resolution) -> Void
    }

    private struct LookUp {
        var waiters: [Waiter] = []
        /// The time after which the next caller starts another look-up, as some never return. Each may take twice as long as the
        /// one before, which limits the number of threads that are lost to a name.
        var nextLookUp: Instant
        var patience = AddressResolver.patience

        mutating func isToBeLookedUp(at now: Instant) -> Bool {
            guard now >= nextLookUp else { return false }
            nextLookUp = now + patience
            patience += patience
            return true
        }

        mutating func takeWaiters(before time: Instant) -> [Waiter] {
            let late = waiters.filter { $0.time <= time }
            waiters.removeAll { $0.time <= time }
            return late
        }
    }

    private let lookUps = Locked<[String: LookUp]>([:])
    private let look: @Sendable (String) -> Resolution
    private let clock: @Sendable () -> Instant
    private let startThread: SystemThread.Starter

    init(
        look: @escaping @Sendable (String) -> Resolution, clock: @escaping @Sendable () -> Instant = { LiveScheduler.now },
        startThread: @escaping SystemThread.Starter = SystemThread.start
    ) {
        self.look = look
        self.clock = clock
        self.startThread = startThread
    }

    /// Calls back with the numeric addresses of a host in the order to try them, or with the reason why there are none. This
    /// happens on another thread, unless none can be started.
    ///
    /// A look-up can't be cancelled; a caller that no longer wants the result ignores it.
    func resolve(_ host: String, completion: @escaping @Sendable (Resolution) -> Void) {
        let now = clock()
        let (isToBeLookedUp, late) = lookUps.withLock { lookUps in
            var lookUp = lookUps[host] ?? LookUp(nextLookUp: now)
            defer { lookUps[host] = lookUp }
            let late = lookUp.takeWaiters(before: now - Self.patience)
            lookUp.waiters.append(Waiter(time: now, completion: completion))
            return (lookUp.isToBeLookedUp(at: now), late)
        }
        for waiter in late {
            waiter.completion(.failure(.timedOut("No address was found for \(host)", after: Self.patience)))
        }
        if isToBeLookedUp { lookUp(host) }
    }

    private func lookUp(_ host: String) {
        do throws(SystemError) {
            try startThread("pusher-resolver") { self.finish(host, self.look(host)) }
        } catch {
            finish(host, .failure(WebSocketFailure(.unreachable, "No thread to look \(host) up: \(error.text)")))
        }
    }

    private func finish(_ host: String, _ resolution: Resolution) {
        let lookUp = lookUps.withLock { $0.removeValue(forKey: host) }
        for waiter in lookUp?.waiters ?? [] { waiter.completion(resolution) }
    }

    private static func look(up host: String) -> Resolution {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let error = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard error == 0 else {
            return .failure(failure(error, SystemError.last, host: host))
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

    /// Returns the failure for an error of `getaddrinfo`. A shortage on this machine says nothing about the name.
    static func failure(_ error: Int32, _ systemError: SystemError, host: String) -> WebSocketFailure {
        let reason = error == EAI_SYSTEM ? systemError.text : String(cString: gai_strerror(error))
        let isShortage = [EAI_SYSTEM, EAI_MEMORY].contains(error)
        return WebSocketFailure(isShortage ? .unreachable : .hostNotFound, "No address found for \(host): \(reason)")
    }

    /// Returns the addresses with IPv6 and IPv4 alternating (RFC 8305, 4), starting with the family that the system puts first.
    ///
    /// If one family silently leads nowhere, which is common, the other one is tried after the first time-out, not after all of
    /// them.
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
