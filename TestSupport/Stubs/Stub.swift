import PusherChannels

/// A test double's response to certain requests, as returned by ``RequestStubbing/stub(_:_:_:file:line:)``.
///
/// All members may be called from any thread.
public final class Stub: Sendable, CustomStringConvertible {
    /// A closure that responds to a request.
    typealias Reply = @Sendable (RecordedRequest) -> StubResponse

    /// The source of the responses.
    enum Source: Sendable {
        /// The responses in order; the last one is repeated.
        case sequence([StubResponse])
        case closure(Reply)
    }

    /// The number of requests that a stub has to get.
    fileprivate enum Demand {
        /// At least one request, and enough to use all responses of a sequence.
        case used
        case optional
        case never
    }

    fileprivate struct State {
        var requests: [RecordedRequest] = []
        var limit: Int?
        var demand = Demand.used
        var condition: Scenario.Step?
    }

    /// The matcher for the requests that the stub responds to.
    public let matcher: RequestMatcher
    /// The place where the stub was made, `Tests.swift:12`.
    public let location: String
    private let source: Locked<Source>
    private let state = Locked(State())

    init(_ matcher: RequestMatcher, _ source: Source, location: String) {
        self.matcher = matcher
        self.source = Locked(source)
        self.location = location
    }

    // MARK: Conditions

    /// Responds to this number of requests; later ones go to the stubs that were added before. Fewer requests are reported unless
    /// the stub is ``optional()``.
    @discardableResult
    public func times(_ count: Int) -> Stub {
        state.withLock { $0.limit = count }
        return self
    }

    /// Lets the stub stay unused.
    @discardableResult
    public func optional() -> Stub {
        state.withLock { $0.demand = .optional }
        return self
    }

    /// Requires the stub to stay unused; a use is reported.
    @discardableResult
    public func never() -> Stub {
        state.withLock { $0.demand = .never }
        return self
    }

    /// Responds only in one state of a scenario, and optionally changes the state.
    @discardableResult
    public func `in`(_ scenario: Scenario, state name: String, then next: String? = nil) -> Stub {
        state.withLock { $0.condition = Scenario.Step(scenario: scenario, from: name, to: next ?? name) }
        return self
    }

    // MARK: Requests so far

    /// The requests that it replied to, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The number of requests that it replied to.
    public var callCount: Int { requests.count }

    /// The requests that it replies to, and the place where it was made.
    public var description: String { "\(matcher) (\(location))" }

    // MARK: Responding

    /// Returns the reasons why it doesn't reply to a request; empty if it does.
    func reasonsAgainst(_ request: RecordedRequest) -> [String] {
        let (reasons, condition, isSpent) = (
            matcher.reasonsAgainst(request), state.withLock { $0.condition }, state.withLock { $0.isSpent }
        )
        return reasons + (condition?.reasonAgainst.map { [$0] } ?? []) + (isSpent ? ["it has answered often enough"] : [])
    }

    /// Takes a matching request, unless the stub has replied often enough or its scenario is in another state.
    ///
    /// - Returns: The number of the request, from 1; `nil` if it isn't taken.
    func take(_ request: RecordedRequest) -> Int? {
        state.withLock { state in
            guard !state.isSpent, state.condition?.take() ?? true else { return nil }
            state.requests.append(request)
            return state.requests.count
        }
    }

    /// Returns the response to a request that was taken.
    func reply(_ request: RecordedRequest, number: Int) -> StubResponse {
        switch source.withLock({ $0 }) {
        case .sequence(let responses): responses[min(number, responses.count) - 1]
        case .closure(let reply): reply(request)
        }
    }

    /// Releases its closure, which may hold a client that holds the session. A late request is refused in a way that no client
    /// retries.
    func release() {
        source.release { source in
            let old = source
            if case .closure = old { source = .closure { _ in .http(403) } }
            return old
        }
    }

    /// The finding for a test's end.
    var finding: Finding? {
        if let problem = matcher.problem { return Finding(.error, "\(self) can never match: \(problem)") }
        let source = source.withLock { $0 }
        let (count, limit, demand) = state.withLock { ($0.requests.count, $0.limit, $0.demand) }
        let own = if case .sequence(let responses) = source { responses.count } else { 1 }
        let demanded = limit ?? own
        switch demand {
        case .never where count > 0:
            return Finding(.unexpectedCall, "\(self) must not be asked, and was asked \(count == 1 ? "once" : "\(count) times")")
        case .used where count == 0 && demanded > 0:
            return Finding(.unusedStub, "\(self)")
        case .used where count < demanded:
            return Finding(.unplayedStep, "\(self) gave \(count) of \(demanded) answers")
        default:
            return nil
        }
    }
}

extension Stub.State {
    fileprivate var isSpent: Bool { limit.map { requests.count >= $0 } ?? false }
}
