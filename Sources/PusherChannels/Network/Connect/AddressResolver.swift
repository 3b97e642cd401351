#if os(Linux)
import Glibc

/// Resolves host names to addresses, off the service thread, because `getaddrinfo` may take ten seconds and more.
///
/// Callers that request a name while it is being looked up share the result: a service that reconnects thousands of sockets looks
/// it up once. Each look-up takes a thread; names beyond the limit wait for their turn.
final class AddressResolver: Sendable {
    typealias Resolution = Result<[String], TransportError>
    typealias Completion = @Sendable (Resolution) -> Void
    /// Looks a host up, and returns a closure that withdraws the request.
    typealias Resolve = @Sendable (_ host: String, _ completion: @escaping Completion) -> @Sendable () -> Void

    /// The time that the first look-up of a name may take before another one begins, and that any may take before it no longer
    /// counts toward the limit. Some never return.
    static let patience = Duration.seconds(20)
    /// The maximum number of look-ups at a time.
    static let limit = 32

    static let shared = AddressResolver(look: { look(up: $0) })

    private struct LookUp {
        /// The callers that wait for the result, by the numbers of their requests.
        var waiters: [Int: Completion] = [:]
        /// Indicates whether the name waits for its turn.
        var isQueued = false
        /// The time after which the next caller starts another look-up. Each may take twice as long as the one before, which
        /// limits the number of threads that are lost to a name. Nil before the first one.
        var nextLookUp: Instant?
        var patience = AddressResolver.patience

        mutating func begin(at now: Instant) {
            nextLookUp = now + patience
            patience += patience
        }
    }

    private struct State {
        var lookUps: [String: LookUp] = [:]
        /// The names that wait for their turn, in order.
        private var queue = Deque<String>()
        /// The look-ups that count toward the limit, by number, with the times when they no longer do.
        var underWay: [Int: Instant] = [:]
        private var lastNumber = 0

        private mutating func makeNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }

        /// Adds a request, and returns its number.
        mutating func add(_ host: String, _ completion: @escaping Completion, at now: Instant) -> Int {
            let number = makeNumber()
            var lookUp = lookUps[host] ?? LookUp()
            lookUp.waiters[number] = completion
            if lookUp.nextLookUp.map({ now >= $0 }) ?? true, !lookUp.isQueued {
                lookUp.isQueued = true
                queue.append(host)
            }
            lookUps[host] = lookUp
            return number
        }

        /// Returns the next name to look up, and the number of its look-up; nil if there is none, or no room for one. Names that
        /// nobody wants anymore are passed over.
        mutating func next(at now: Instant) -> (host: String, number: Int)? {
            if underWay.count >= AddressResolver.limit { underWay = underWay.filter { $0.value > now } }
            while underWay.count < AddressResolver.limit, let host = queue.popFirst() {
                guard var lookUp = lookUps[host], lookUp.isQueued else { continue }
                lookUp.isQueued = false
                let isWanted = !lookUp.waiters.isEmpty
                if isWanted { lookUp.begin(at: now) }
                lookUps[host] = lookUp.nextLookUp == nil ? nil : lookUp
                guard isWanted else { continue }
                let number = makeNumber()
                underWay[number] = now + AddressResolver.patience
                return (host, number)
            }
            return nil
        }
    }

    private let state = Locked(State())
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
    /// Returns a closure that withdraws the request: nobody is called back, and a name that nobody else wants gives up its turn.
    /// A look-up that has begun can't be cancelled.
    func resolve(_ host: String, completion: @escaping Completion) -> @Sendable () -> Void {
        let now = clock()
        let number = state.withLock { $0.add(host, completion, at: now) }
        beginLookUps()
        return { _ = self.state.withLock { $0.lookUps[host]?.waiters.removeValue(forKey: number) } }
    }

    private func beginLookUps() {
        while case let now = clock(), let (host, number) = state.withLock({ $0.next(at: now) }) {
            do throws(SystemError) {
                try startThread("pusher-resolver") {
                    self.finish(host, number, self.look(host))
                    self.beginLookUps()
                }
            } catch {
                finish(host, number, .failure(TransportError(.unreachable, "No thread to look \(host) up: \(error.text)")))
            }
        }
    }

    private func finish(_ host: String, _ number: Int, _ resolution: Resolution) {
        let waiters = state.withLock { state in
            state.underWay[number] = nil
            return state.lookUps.removeValue(forKey: host)?.waiters ?? [:]
        }
        for (_, completion) in waiters.sorted(by: { $0.key < $1.key }) { completion(resolution) }
    }

    private static func look(up host: String) -> Resolution {
        var hints = addrinfo()
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
            ? .failure(TransportError(.hostNotFound, "No address found for \(host)")) : .success(alternating(addresses))
    }

    /// Returns the failure for an error of `getaddrinfo`. A shortage on this machine says nothing about the name.
    static func failure(_ error: Int32, _ systemError: SystemError, host: String) -> TransportError {
        let reason = error == EAI_SYSTEM ? systemError.text : String(cString: gai_strerror(error))
        let isShortage = [EAI_SYSTEM, EAI_MEMORY].contains(error)
        return TransportError(isShortage ? .unreachable : .hostNotFound, "No address found for \(host): \(reason)")
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
