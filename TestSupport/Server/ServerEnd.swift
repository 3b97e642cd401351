#if LocalServer
import PusherChannels

/// The end of a server, which requires its routes to end. A route that ignores the cancellation of its task would otherwise keep
/// the test waiting forever, without a message that says why.
enum ServerEnd {
    /// Waits for `end`, but gives up if the same routes are still running after `patience`. Returns the names of these routes;
    /// none if the end has come.
    static func wait(
        patience: Duration = .seconds(10), for end: @escaping @Sendable () async -> Void,
        unless goingOn: @escaping @Sendable () -> [String]
    ) async -> [String] {
        let scheduler = LiveScheduler()
        let waiting = Locked<CheckedContinuation<[String], Never>?>(nil)
        let timer = Locked<(any ScheduledAction)?>(nil)

        @Sendable func finish(_ names: [String]) {
            waiting.withLock { $0.take() }?.resume(returning: names)
        }

        @Sendable func look(after before: [String]) {
            let action = scheduler.schedule(at: scheduler.now + patience, label: "end of a server") {
                let names = goingOn()
                if !names.isEmpty, names == before { return finish(names) }
                if waiting.withLock({ $0 != nil }) { look(after: names) }
            }
            timer.withLock { $0 = action }
        }

        defer { timer.withLock { $0.take() }?.cancel() }
        return await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
            look(after: goingOn())
            Task {
                await end()
                finish([])
            }
        }
    }
}
#endif
