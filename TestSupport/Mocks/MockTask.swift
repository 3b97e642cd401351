import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request under way in a ``MockSession``. It completes once, however often and from wherever it is resumed and cancelled.
public final class MockTask: HTTPTask {
    /// The values for the completion handler.
    struct Outcome: Sendable {
        var data: Data?
        var urlResponse: URLResponse?
        var error: (any Error)?
    }

    /// An outcome and its timing.
    struct Reply: Sendable {
        var outcome: Outcome
        var delay: Duration = .zero
        var gate: Gate?
        /// The time that the caller waits for the reply.
        var timeout: Duration?
        /// A closure that is called when the reply was delivered, or waits for its gate or the clock.
        var onWaiting: @Sendable () -> Void = {}

        /// The event that the reply waits for, as the end of a line in a timeline.
        var wait: String {
            if let timeout, delay >= timeout { return ", had its caller waited longer than \(timeout)" }
            return (gate == nil ? "" : ", once its gate is open") + (delay > .zero ? ", in \(delay)" : "")
        }
    }

    typealias Completion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    /// The things that a task needs only until it is resumed. A timer that never runs keeps the task alive, so the task must not
    /// keep the timer's owner alive.
    private struct Start {
        let scheduler: any Scheduler
        let reply: @Sendable () -> Reply
    }

    private struct State {
        var completion: Completion?
        var start: Start?
        var pending: [any ScheduledAction] = []
    }

    private let label: String
    private let delivery: MockDelivery
    private let state: Locked<State>

    init(
        label: String, delivery: MockDelivery, scheduler: any Scheduler = LiveScheduler(), completion: @escaping Completion,
        reply: @escaping @Sendable () -> Reply
    ) {
        self.label = label
        self.delivery = delivery
        let start = Start(scheduler: scheduler, reply: reply)
        state = Locked(State(completion: completion, start: start))
    }

    /// Creates a task that completes with a response, on one of the system's queues unless `delivery` says otherwise.
    public convenience init(
        response: MockSession.Response, delivery: MockDelivery = .global,
        completionHandler: (@Sendable (Data?, URLResponse?, (any Error)?) -> Void)?
    ) {
        let outcome = Outcome(data: response.data, urlResponse: response.urlResponse, error: response.error)
        self.init(label: "response of a mock task", delivery: delivery, completion: completionHandler ?? { _, _, _ in }) {
            Reply(outcome: outcome)
        }
    }

    /// Starts the request; a second call does nothing.
    public func resume() {
        guard let start = state.withLock({ $0.completion == nil ? nil : $0.start.take() }) else { return }
        let scheduler = start.scheduler
        var reply = start.reply()
        defer { reply.onWaiting() }
        if let timeout = reply.timeout, reply.gate != nil || reply.delay >= timeout {
            keep(
                scheduler.schedule(at: scheduler.now + timeout, label: "time-out of \(label)") { [self] in
                    keep(deliver(Outcome(error: URLError(.timedOut))))
                })
        }
        // Take the gate out: a gate that stays closed and the reply that waits for it would keep each other alive.
        guard let gate = reply.gate.take() else { return wait(for: reply, on: scheduler) }
        keep(gate.pass { [self, reply] in wait(for: reply, on: scheduler) })
    }

    /// Cancels the request, which completes with `URLError.cancelled` unless it has completed.
    public func cancel() {
        guard let completion = takeCompletion() else { return }
        _ = delivery.prompt.deliver("cancellation of \(label)") { completion(nil, nil, URLError(.cancelled)) }
    }

    private func wait(for reply: Reply, on scheduler: any Scheduler) {
        guard reply.delay > .zero else { return keep(deliver(reply.outcome)) }
        keep(
            scheduler.schedule(at: scheduler.now + reply.delay, label: label) { [self] in keep(deliver(reply.outcome)) })
    }

    private func deliver(_ outcome: Outcome) -> (any ScheduledAction)? {
        delivery.deliver(label) { [self] in takeCompletion()?(outcome.data, outcome.urlResponse, outcome.error) }
    }

    /// Keeps an action to cancel with the task.
    private func keep(_ pending: (any ScheduledAction)?) {
        let isOver = state.withLock { state in
            guard state.completion != nil else { return true }
            if let pending { state.pending.append(pending) }
            return false
        }
        // Cancelled while the timer was being made.
        if isOver { pending?.cancel() }
    }

    private func takeCompletion() -> Completion? {
        let (completion, pending) = state.withLock { state in
            defer {
                state.completion = nil
                state.pending = []
            }
            return (state.completion, state.pending)
        }
        for action in pending { action.cancel() }
        return completion
    }
}
