import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request under way in a ``MockSession``: completes once, whoever resumes and cancels it, how often, from where.
public final class MockTask: HTTPTask {
    /// What the completion handler is given.
    typealias Outcome = (data: Data?, urlResponse: URLResponse?, error: (any Error)?)
    typealias Completion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    private struct State {
        var completion: Completion?
        var isResumed = false
        var pending: (any ScheduledAction)?
    }

    private let label: String
    private let delivery: MockDelivery
    private let answer: @Sendable () -> Outcome
    private let state: Locked<State>

    init(label: String, delivery: MockDelivery, completion: @escaping Completion, answer: @escaping @Sendable () -> Outcome) {
        self.label = label
        self.delivery = delivery
        self.answer = answer
        state = Locked(State(completion: completion))
    }

    /// Creates a task that completes with a response, on one of the system's queues unless `delivery` says otherwise.
    public convenience init(
        response: MockSession.Response, delivery: MockDelivery = .global,
        completionHandler: (@Sendable (Data?, URLResponse?, (any Error)?) -> Void)?
    ) {
        self.init(label: "response of a mock task", delivery: delivery, completion: completionHandler ?? { _, _, _ in }) {
            (response.data, response.urlResponse, response.error)
        }
    }

    /// Starts the request; a second call does nothing.
    public func resume() {
        let isFirst = state.withLock { state in
            guard !state.isResumed, state.completion != nil else { return false }
            state.isResumed = true
            return true
        }
        guard isFirst else { return }
        let outcome = answer()
        let pending = delivery.deliver(label) { [self] in
            takeCompletion()?(outcome.data, outcome.urlResponse, outcome.error)
        }
        let isOver = state.withLock { state in
            guard state.completion != nil else { return true }
            state.pending = pending
            return false
        }
        // Cancelled while the timer was being made.
        if isOver { pending?.cancel() }
    }

    /// Gives the request up: it completes with `URLError.cancelled` unless it has completed.
    public func cancel() {
        guard let completion = takeCompletion() else { return }
        _ = delivery.prompt.deliver("cancellation of \(label)") { completion(nil, nil, URLError(.cancelled)) }
    }

    private func takeCompletion() -> Completion? {
        let (completion, pending) = state.withLock { state in
            defer {
                state.completion = nil
                state.pending = nil
            }
            return (state.completion, state.pending)
        }
        pending?.cancel()
        return completion
    }
}
