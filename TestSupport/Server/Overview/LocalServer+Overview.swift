#if LocalServer
/// The members that a program needs to show a server to its user, in addition to those that tests need.
extension LocalServer {
    /// The outcome of a request to publish an event.
    package enum PublishResult: Equatable, Sendable {
        /// The event was sent to this number of connections.
        case published(receivers: Int)
        /// The event wasn't sent, because no backend could publish it either.
        case refused(reason: String)
    }

    /// Starts keeping what happens for ``overview(_:)``.
    package func recordEvents() {
        core.change { machine, _ in machine.recordEvents() }
    }

    /// Returns a snapshot of the server for an observer.
    package func overview(_ view: ServerOverview.View) -> ServerOverview {
        core.change { machine, now in machine.overview(view, at: now) }
    }

    /// Returns the data of an event in the log; `nil` if the event isn't kept any more.
    package func data(ofEntry number: Int) -> Excerpt? {
        core.ask { $0.observation?.data(ofEntry: number) }
    }

    /// Publishes an event in one app, as its backend does, and returns the outcome.
    package func tryToPublish(channel: String, event: String, data: String, appKey: String) -> PublishResult {
        core.change { machine, _ in
            guard machine.apps.contains(where: { $0.hasKey(appKey) }) else { return .refused(reason: "There is no such app.") }
            let receivers = machine.publish(channel: channel, event: event, data: data, appKey: appKey)
            guard case .notice(.publishRefused(_, _, let reason))? = machine.effects.last else {
                return .published(receivers: receivers)
            }
            return .refused(reason: reason)
        }
    }
}
#endif
