#if LocalServer
import PusherChannels

/// The end of a server, for which its routes have to end. One that doesn't hear that its task is cancelled would keep the test for ever, and
/// no line would say why.
enum ServerEnd {
    /// Returns when the end has come; or without it, where the same routes go on for so long: their names then.
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
