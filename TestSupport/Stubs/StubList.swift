import PusherChannels

/// The stubs of one test double: the last added answers first.
public final class StubList: Sendable {
    private let stubs = Locked<[Stub]>([])
    private let unmatched = Locked(FirstElements<UnmatchedRequest>())
    /// The findings of stubs that were taken back.
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

    func removeLast() {
        take { _ = $0.popLast() }
    }

    func removeAll() {
        take { $0.removeAll() }
    }

    /// Takes stubs back; that one was asked against its will remains.
    private func take(_ removal: (inout [Stub]) -> Void) {
        let removed = stubs.withLock { stubs in
            let before = stubs
            removal(&stubs)
            return before.filter { stub in !stubs.contains { $0 === stub } }
        }
        let findings = removed.compactMap(\.finding).filter { $0.kind == .unexpectedCall }
        left.withLock { $0 += findings }
    }

    /// The answer of the last added stub that has one.
    ///
    /// Users' code, matchers and answers, runs without the lock. The stub that replies is chosen under it: of two stubs in two states of a
    /// scenario, a request must not miss both because another one changed the state in between.
    ///
    /// - Parameter onTaking: Told of the request with what stands for the names in its path, before the stub's closure runs.
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

    /// Something that did not answer a request.
    typealias NearMiss = (name: String, reasons: [String])

    /// Writes down that nothing answers a request, with the stubs that nearly did, and others that are given.
    func recordUnmatched(_ request: RecordedRequest, nor others: [NearMiss] = []) -> UnmatchedRequest {
        let misses = all.reversed().map { NearMiss("\($0)", $0.reasonsAgainst(request)) } + others
        // A stable order: those with the fewest reasons first, the last added before the others.
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

    /// Adds to the finding of a stub that wasn't asked which other one answered what it means.
    private func explain(_ finding: Finding, of stub: Stub) -> Finding {
        guard finding.kind == .unusedStub else { return finding }
        for other in all where other !== stub {
            guard let request = other.requests.first(where: { stub.matcher.matches($0) }) else { continue }
            return Finding(.unusedStub, "\(finding.text), shadowed by \(other), which answered \(request)")
        }
        return finding
    }
}
