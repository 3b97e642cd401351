import PusherChannels

/// The stubs of one test double; the one that was added last comes first.
public final class StubList: Sendable {
    private let stubs = Locked<[Stub]>([])
    private let unmatched = Locked(FirstElements<UnmatchedRequest>())
    /// The findings of stubs that were removed.
    private let left = Locked<[Finding]>([])

    init() {}

    var all: [Stub] { stubs.withLock { $0 } }
    var unmatchedRequests: [UnmatchedRequest] { unmatched.withLock { $0.kept } }

    func add(_ stub: Stub) {
        stubs.withLock { $0.append(stub) }
    }

    func remove(_ stub: Stub) {
        take { stubs in stubs.removeAll { $0 === stub } }
    }

    func removeAll() {
        take { $0.removeAll() }
    }

    /// Removes stubs, but keeps the finding that one was used although it must not be.
    private func take(_ removal: (inout [Stub]) -> Void) {
        let removed = stubs.withLock { stubs in
            let before = stubs
            removal(&stubs)
            return before.filter { stub in !stubs.contains { $0 === stub } }
        }
        let findings = removed.compactMap(\.finding).filter { $0.kind == .unexpectedCall }
        left.withLock { $0 += findings }
    }

    /// Returns the response of the last added stub that has one.
    ///
    /// User code, such as matchers and responses, runs without the lock. The stub that replies is chosen under the lock: if two
    /// stubs reply in two states of a scenario, a request must not miss both because another request changed the state in
    /// between.
    ///
    /// - Parameter onTaking: A closure that gets the request with its path parameters before the stub's closure runs.
    func reply(_ request: RecordedRequest, onTaking: (RecordedRequest) -> Void = { _ in }) -> StubResponse? {
        let candidates = all.reversed().compactMap { stub -> (stub: Stub, request: RecordedRequest)? in
            let outcome = stub.matcher.outcome(of: request)
            guard outcome.isMatch else { return nil }
            var request = request
            request.pathParameters = outcome.pathParameters
            return (stub, request)
        }
        let taken = stubs.withLock { _ -> (stub: Stub, request: RecordedRequest, number: Int)? in
            for (stub, request) in candidates {
                if let number = stub.take(request) { return (stub, request, number) }
            }
            return nil
        }
        guard let taken else { return nil }
        onTaking(taken.request)
        return taken.stub.reply(taken.request, number: taken.number)
    }

    /// A stub or route that did not respond to a request.
    typealias NearMiss = (name: String, reasons: [String])

    /// Records that nothing responds to a request, with the stubs that nearly did and the given others.
    func recordUnmatched(_ request: RecordedRequest, nor others: [NearMiss] = []) -> UnmatchedRequest {
        let misses = all.reversed().map { NearMiss("\($0)", $0.reasonsAgainst(request)) } + others
        // A stable order: fewest reasons first, then the last added first.
        let ranked = misses.enumerated().sorted { ($0.element.reasons.count, $0.offset) < ($1.element.reasons.count, $1.offset) }
        let names = ranked.map { "\($0.element.name): \($0.element.reasons.joined(separator: ", "))" }
        let error = UnmatchedRequest(request: request, nearMisses: names)
        unmatched.withLock { $0.append(error) }
        return error
    }

    var findings: [Finding] {
        unmatched.withLock { $0.findings { Finding(.unmatchedRequest, "\($0)") } } + left.withLock { $0 }
            + all.compactMap { stub in stub.finding.map { explain($0, of: stub) } }
    }

    /// Adds to the finding of an unused stub which other stub responded in its place.
    private func explain(_ finding: Finding, of stub: Stub) -> Finding {
        guard finding.kind == .unusedStub else { return finding }
        for other in all where other !== stub {
            guard let request = other.requests.first(where: { stub.matcher.matches($0) }) else { continue }
            return Finding(.unusedStub, "\(finding.text), shadowed by \(other), which answered \(request)")
        }
        return finding
    }
}
