import PusherChannels

/// A request that a test double answers, and how: what ``RequestStubbing/stub(_:_:_:file:line:)`` returns.
///
/// All members may be called from any thread.
public final class Stub: Sendable, CustomStringConvertible {
    /// Answers a request.
    typealias Reply = @Sendable (RecordedRequest) -> StubResponse

    /// The source of the responses.
    enum Source: Sendable {
        /// One after the other; the last one stays.
        case sequence([StubResponse])
        case closure(Reply)
    }

    /// The number of requests that a stub has to get.
    fileprivate enum Demand {
        /// At least once, and until all of a sequence was given.
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

    /// Which requests it answers.
    public let matcher: RequestMatcher
    /// The place where it was made, `Tests.swift:12`.
    public let location: String
    private let source: Locked<Source>
    private let state = Locked(State())

    init(_ matcher: RequestMatcher, _ source: Source, location: String) {
        self.matcher = matcher
        self.source = Locked(source)
        self.location = location
    }

    // MARK: Conditions

    /// Answers so many requests, and fewer are reported unless it is ``optional()``; later ones find the stub made before.
    @discardableResult
    public func times(_ count: Int) -> Stub {
        state.withLock { $0.limit = count }
        return self
    }

    /// May stay unused.
    @discardableResult
    public func optional() -> Stub {
        state.withLock { $0.demand = .optional }
        return self
    }

    /// Must stay unused: being asked is reported.
    @discardableResult
    public func never() -> Stub {
        state.withLock { $0.demand = .never }
        return self
    }

    /// Answers in one state of a scenario only, and may bring it into another.
    @discardableResult
    public func `in`(_ scenario: Scenario, state name: String, then next: String? = nil) -> Stub {
        state.withLock { $0.condition = Scenario.Step(scenario: scenario, from: name, to: next ?? name) }
        return self
    }

    // MARK: Requests so far

    /// The requests it answered, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The number of requests that it replied to.
    public var callCount: Int { requests.count }

    /// The requests that it replies to, and the place where it was made.
    public var description: String { "\(matcher) (\(location))" }

    // MARK: Answering

    /// Returns the reasons why it doesn't reply to a request; empty where it does.
    func reasonsAgainst(_ request: RecordedRequest) -> [String] {
        let (reasons, condition, isSpent) = (
            matcher.reasonsAgainst(request), state.withLock { $0.condition }, state.withLock { $0.isSpent }
        )
        return reasons + (condition?.reasonAgainst.map { [$0] } ?? []) + (isSpent ? ["it has answered often enough"] : [])
    }

    /// Takes a request that it means, unless it has answered often enough or its scenario is in another state.
    ///
    /// - Returns: The number of the request, from 1; `nil` where it isn't taken.
    func take(_ request: RecordedRequest) -> Int? {
        state.withLock { state in
            guard !state.isSpent, state.condition?.take() ?? true else { return nil }
            state.requests.append(request)
            return state.requests.count
        }
    }

    /// The answer to a request that was taken.
    func reply(_ request: RecordedRequest, number: Int) -> StubResponse {
        switch source.withLock({ $0 }) {
        case .sequence(let responses): responses[min(number, responses.count) - 1]
        case .closure(let reply): reply(request)
        }
    }

    /// Lets go of its closure, which may hold a client that holds the session. A late request is refused, which no client tries again.
    func letGo() {
        source.letGo { source in
            let old = source
            if case .closure = old { source = .closure { _ in .http(403) } }
            return old
        }
    }

    /// The finding for a test's end.
    var finding: Finding? {
        let source = source.withLock { $0 }
        let (count, limit, demand) = state.withLock { ($0.requests.count, $0.limit, $0.demand) }
        let own = if case .sequence(let responses) = source { responses.count } else { 1 }
        let demanded = limit ?? own
        switch demand {
        case .never where count > 0:
            return Finding(.unexpectedCall, "\(self) must not be asked, and was asked \(count == 1 ? "once" : "\(count) times")")
        case .used where count == 0:
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
