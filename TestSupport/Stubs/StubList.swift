import PusherChannels

/// The stubs of one test double: the last added answers first.
public final class StubList: Sendable {
    private let stubs = Locked<[Stub]>([])
    private let unmatched = Locked<[UnmatchedRequest]>([])

    init() {}

    var all: [Stub] { stubs.withLock { $0 } }
    var unmatchedRequests: [UnmatchedRequest] { unmatched.withLock { $0 } }

    func add(_ stub: Stub) {
        stubs.withLock { $0.append(stub) }
    }

    func remove(_ stub: Stub) {
        stubs.withLock { $0.removeAll { $0 === stub } }
    }

    func removeLast() {
        stubs.withLock { _ = $0.popLast() }
    }

    func removeAll() {
        stubs.withLock { $0.removeAll() }
    }

    /// The answer of the last added stub that has one.
    func answer(_ request: RecordedRequest) -> StubResponse? {
        for stub in all.reversed() {
            if let (_, response) = stub.take(request) { return response }
        }
        return nil
    }

    /// Writes down that nothing answers a request, with the stubs that nearly did.
    func recordUnmatched(_ request: RecordedRequest) -> UnmatchedRequest {
        let misses = all.reversed().map { UnmatchedRequest.NearMiss(stub: $0.description, reasons: $0.reasonsAgainst(request)) }
        // A stable order: those with the fewest reasons first, the last added before the others.
        let ranked = misses.enumerated().sorted { ($0.element.reasons.count, $0.offset) < ($1.element.reasons.count, $1.offset) }
        let error = UnmatchedRequest(request: request, nearMisses: ranked.map(\.element))
        unmatched.withLock { $0.append(error) }
        return error
    }

    var findings: [Finding] {
        unmatchedRequests.map { Finding(.unmatchedRequest, "\($0)") } + all.compactMap(\.finding)
    }
}
