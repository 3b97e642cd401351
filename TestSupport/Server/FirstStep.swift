import Dispatch
import PusherChannels

/// Runs asynchronous code, and reports when it has gone as far as it can without waiting: when it has ended, or waits for
/// something.
enum FirstStep {
    /// Runs `body`, and calls `told` once, after the body's first step.
    static func run<Result: Sendable>(
        then told: @escaping @Sendable () -> Void, _ body: @Sendable () async -> Result
    ) async -> Result {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            told()
            return await body()
        }
        return await withTaskExecutorPreference(Executor(told), operation: body)
    }

    /// Runs a task's jobs on one of the system's queues.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class Executor: TaskExecutor {
        private let told: Locked<(@Sendable () -> Void)?>

        init(_ told: @escaping @Sendable () -> Void) {
            self.told = Locked(told)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            DispatchQueue.global().async { [self] in
                job.runSynchronously(on: asUnownedTaskExecutor())
                told.withLock { $0.take() }?()
            }
        }
    }
}
