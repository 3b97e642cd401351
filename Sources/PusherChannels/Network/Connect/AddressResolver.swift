#if canImport(CLibwebsockets)
import Glibc

/// Turns host names into addresses, away from the service thread: `getaddrinfo` may take ten seconds and more.
///
/// Questions for the same name that come while one is under way share its answer, so that a service which reconnects
/// thousands of sockets asks once.
final class AddressResolver: Sendable {
    typealias Answer = Result<[String], WebSocketFailure>
    typealias Resolve = @Sendable (_ host: String, _ completion: @escaping @Sendable (Answer) -> Void) -> Void

    /// How long a question waits for its answer, and how long the first look-up of a name may take before another one begins.
    static let patience = Duration.seconds(20)

    static let shared = AddressResolver(look: { look(up: $0) })

    private struct Question {
        let time: Instant
        let completion: @Sendable (Answer) -> Void
    }

    private struct LookUp {
        var questions: [Question] = []
        /// When whoever asks has it looked up again, as some look-ups never return. Each may take as long as all before: whatever
        /// happens, the threads that are lost to a name are few.
        var nextLookUp: Instant
        var patience = AddressResolver.patience

        mutating func isToBeLookedUp(at now: Instant) -> Bool {
            guard now >= nextLookUp else { return false }
            nextLookUp = now + patience
            patience += patience
            return true
        }

        mutating func takeQuestions(before time: Instant) -> [Question] {
            let late = questions.filter { $0.time <= time }
            questions.removeAll { $0.time <= time }
            return late
        }
    }

    private let lookUps = Locked<[String: LookUp]>([:])
    private let look: @Sendable (String) -> Answer
    private let clock: @Sendable () -> Instant
    private let startThread: SystemThread.Starter

    init(
        look: @escaping @Sendable (String) -> Answer, clock: @escaping @Sendable () -> Instant = { LiveScheduler.now },
        startThread: @escaping SystemThread.Starter = SystemThread.start
    ) {
        self.look = look
        self.clock = clock
        self.startThread = startThread
    }

    /// Calls back with the numeric addresses of a host in the order to try them, or with the reason for none: on another thread,
    /// unless there can't be one.
    ///
    /// A look-up can't be stopped; who no longer wants the answer ignores it.
    func resolve(_ host: String, completion: @escaping @Sendable (Answer) -> Void) {
        let now = clock()
        let (isToBeLookedUp, late) = lookUps.withLock { lookUps in
            var lookUp = lookUps[host] ?? LookUp(nextLookUp: now)
            defer { lookUps[host] = lookUp }
            let late = lookUp.takeQuestions(before: now - Self.patience)
            lookUp.questions.append(Question(time: now, completion: completion))
            return (lookUp.isToBeLookedUp(at: now), late)
        }
        for question in late {
            question.completion(.failure(.timedOut("No address was found for \(host)", after: Self.patience)))
        }
        if isToBeLookedUp { lookUp(host) }
    }

    private func lookUp(_ host: String) {
        do throws(SystemError) {
            try startThread("pusher-resolver") { self.answer(host, self.look(host)) }
        } catch {
            answer(host, .failure(WebSocketFailure(.unreachable, "No thread to look \(host) up: \(error.text)")))
        }
    }

    private func answer(_ host: String, _ answer: Answer) {
        let lookUp = lookUps.withLock { $0.removeValue(forKey: host) }
        for question in lookUp?.questions ?? [] { question.completion(answer) }
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
