#if LocalServer
/// The parts that a program needs to show a server to its user, beside those that tests need.
extension LocalServer {
    /// The outcome of a request to publish an event.
    package enum PublishResult: Equatable, Sendable {
        /// It was sent to so many connections.
        case published(receivers: Int)
        /// It wasn't sent, as no backend could publish it either.
        case refused(reason: String)
    }

    /// Has the server keep its latest events for ``overview`` from now on.
    package func recordEvents() {
        core.change { machine, _, _ in machine.recordEvents() }
    }

    /// The server as somebody who looks on is shown it.
    package var overview: ServerOverview {
        core.change { machine, now, _ in machine.overview(at: now) }
    }

    /// Publishes an event in one app, as its backend does, and tells what became of it.
    package func tryToPublish(channel: String, event: String, data: String, appKey: String) -> PublishResult {
        core.change { machine, _, effects in
            guard machine.apps.contains(where: { $0.key == appKey }) else { return .refused(reason: "There is no such app.") }
            let receivers = machine.publish(channel: channel, event: event, data: data, appKey: appKey, into: &effects)
            guard case .notice(.publishRefused(_, _, let reason))? = effects.last else { return .published(receivers: receivers) }
            return .refused(reason: reason)
        }
    }
}
#endif
