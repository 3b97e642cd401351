import Dispatch
import Foundation
import PusherChannels

/// Runs the demo's steps, and prints a line for each.
final class Steps {
    private(set) var count = 0
    private let watchdog: Watchdog

    init(watchdog: Watchdog) {
        self.watchdog = watchdog
    }

    func step<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
        count += 1
        watchdog.watch("step \(count), \(name)")
        let clock = ContinuousClock()
        let began = clock.now
        do {
            let result = try await body()
            output("\(count). \(name) – \(String(format: "%.1f ms", began.duration(to: clock.now) / .milliseconds(1)))")
            return result
        } catch {
            throw Failure("step \(count), \(name): \(error)", because: error)
        }
    }
}

/// Ends the process if it takes too long, and names the current step, because no step may wait forever.
final class Watchdog: Sendable {
    private let current = Locked("start")
    private let child = Locked<Int32?>(nil)
    private let timer: Locked<any DispatchSourceTimer>

    init(seconds: Int) {
        let source = DispatchSource.makeTimerSource()
        source.schedule(deadline: .now() + .seconds(seconds))
        timer = Locked(source)
        source.setEventHandler { [weak self, current] in
            note("Error: \(current.withLock { $0 }): did not happen within \(seconds) s")
            self?.end(status: 1)
        }
        source.resume()
    }

    func watch(_ name: String) {
        current.withLock { $0 = name }
    }

    /// Sets the process that must not outlive this one.
    func take(along child: Int32?) {
        self.child.withLock { $0 = child }
    }

    /// Ends the process, after the one that must not outlive it.
    func end(status: Int32) {
        if let child = child.withLock({ $0 }) { kill(child, SIGKILL) }
        exit(status)
    }

    func cancel() {
        timer.withLock { $0.cancel() }
    }
}
