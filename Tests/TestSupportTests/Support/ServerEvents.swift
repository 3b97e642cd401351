import PusherChannels
import TestSupport

/// The events of a server as a stream to wait on.
struct ServerEvents {
    let stream: AsyncStream<LocalServer.Event>
    let settings: LocalServer.Settings

    init(closeTimeout: Duration = .seconds(20), scheduler: any Scheduler = LiveScheduler()) {
        let (stream, continuation) = AsyncStream<LocalServer.Event>.makeStream()
        self.stream = stream
        settings = LocalServer.Settings(scheduler: scheduler, closeTimeout: closeTimeout) { continuation.yield($0) }
    }

    /// Waits for a notice, and skips the events before it.
    func wait(for notice: ServerMachine.Notice) async throws {
        _ = try await next("\(notice)", in: stream) { $0 == .notice(notice) }
    }
}
