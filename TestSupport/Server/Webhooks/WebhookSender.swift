import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Posts a server's webhooks. Each is retried until it gets a response with a 2xx status, for five minutes at most.
final class WebhookSender: Sendable {
    /// The outcome of an attempt.
    enum Outcome: Equatable, Sendable {
        case received(status: Int)
        case failed(String)
        /// The webhook can't be sent, and isn't retried.
        case unsendable(String)
    }

    /// A webhook that is being delivered.
    private struct Delivery: Sendable {
        let id: Int
        let webhook: ServerMachine.Webhook
        let request: URLRequest
        /// The time after which there are no more retries. All of them send the same body, with the same time.
        let end: Instant
        var delay: Duration = .seconds(1)
    }

    private struct State {
        var session: @Sendable () -> (any HTTPSession)? = { nil }
        var onOutcome: @Sendable (ServerMachine.Webhook, Outcome) -> Void = { _, _ in }
        var lastID = 0
        /// Closures that cancel the deliveries in progress, and those that wait for their next attempt.
        var pending: [Int: @Sendable () -> Void] = [:]
        var isStopped = false
    }

    private let scheduler: any Scheduler
    private let wallClock: @Sendable () -> Date
    private let state = Locked(State())

    /// Creates a sender, which sends nothing before it has a session.
    ///
    /// - Parameters:
    ///   - scheduler: The clock for the pauses between attempts.
    ///   - wallClock: The clock that webhooks are dated by.
    init(scheduler: any Scheduler, wallClock: @escaping @Sendable () -> Date) {
        self.scheduler = scheduler
        self.wallClock = wallClock
    }

    /// Sets a closure that is called with the outcome of each attempt, on any thread.
    func onOutcome(_ body: @escaping @Sendable (ServerMachine.Webhook, Outcome) -> Void) {
        state.set(\.onOutcome, to: body)
    }

    /// Sends requests through a session from now on.
    func use(_ session: @escaping @Sendable () -> (any HTTPSession)?) {
        state.set(\.session, to: session)
    }

    /// Sends a webhook, signed with the app's secret.
    func send(_ webhook: ServerMachine.Webhook, secret: String) {
        guard let request = webhook.request(secret: secret, at: wallClock()) else {
            return report(webhook, .unsendable("that is no address"))
        }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        attempt(Delivery(id: id, webhook: webhook, request: request, end: scheduler.now + .seconds(300)))
    }

    /// Cancels all deliveries; nothing is sent afterwards.
    func stop() {
        let pending = state.withLock { state in
            defer { state.pending = [:] }
            state.isStopped = true
            return state.pending
        }
        for cancel in pending.values { cancel() }
    }

    private func report(_ webhook: ServerMachine.Webhook, _ outcome: Outcome) {
        state.withLock { $0.onOutcome }(webhook, outcome)
    }

    private func attempt(_ delivery: Delivery) {
        guard let session = state.withLock({ $0.session })() else {
            return report(delivery.webhook, .unsendable("there is no session to send it by"))
        }
        let task: any HTTPTask = session.dataTask(with: delivery.request) { [weak self] _, response, error in
            let status = (response as? HTTPURLResponse)?.statusCode
            self?.attempted(delivery, status.map { .received(status: $0) } ?? .failed(error.map(Self.words) ?? "no response"))
        }
        let isStopped = state.withLock { state in
            if !state.isStopped { state.pending[delivery.id] = { task.cancel() } }
            return state.isStopped
        }
        if !isStopped { task.resume() }
    }

    /// Returns an error's text for people. Foundation's errors would print everything they were given, including the address with
    /// its password.
    private static func words(of error: any Error) -> String {
        let isFoundations = error is any CustomNSError || type(of: error) is NSError.Type
        return (isFoundations ? error.localizedDescription : "\(error)").asMessage
    }

    private func attempted(_ delivery: Delivery, _ outcome: Outcome) {
        // The delivery was cancelled in the meantime.
        guard state.withLock({ $0.pending.removeValue(forKey: delivery.id) }) != nil else { return }
        // Reported last, because a listener of the failure may move the clock at once.
        defer { report(delivery.webhook, outcome) }
        if case .received(200..<300) = outcome { return }
        var next = delivery
        next.delay = delivery.delay * 2
        let time = scheduler.now + delivery.delay
        guard time <= delivery.end else { return }
        state.withLock { [next] state in
            guard !state.isStopped else { return }
            let action = scheduler.schedule(at: time, label: "webhook to \(next.webhook.url.withoutSecretsOfAddresses)") {
                [weak self] in
                self?.attempt(next)
            }
            state.pending[next.id] = { action.cancel() }
        }
    }
}
