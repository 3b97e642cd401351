#if ServiceLifecycle
import ServiceLifecycle

/// With the trait `ServiceLifecycle`, a client is a service: ``Pusher/run()`` ends gracefully, as ``Pusher/shutdown(within:)``
/// does it, when its group is asked to shut down, even if the group is asked before the run has begun.
///
/// ```swift
/// let group = ServiceGroup(services: [pusher, reader], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A stream that is read in such a group also ends: the reader gets the elements that came before, and its loop ends. Put readers
/// after the client in the group's list, because a group shuts its services down from the last to the first.
extension Pusher: Service {}
extension PusherEnvironment {
    /// Runs the shutdown when the task is asked to shut down gracefully, and returns when both are done.
    func endingGracefully(by shutdown: @escaping @Sendable () async -> Void, _ body: () async throws -> Void) async throws {
        let (isAsked, done) = (Locked(false), OneShot<Void>())
        try await withGracefulShutdownHandler(operation: body) {
            isAsked.withLock { $0 = true }
            _ = self.spawn {
                await shutdown()
                done.give(.success(()))
            }
        }
        guard isAsked.withLock(\.self) else { return }
        // It never throws: only a success is given.
        try? await done.valueEvenIfCancelled()
    }
}
#else
extension PusherEnvironment {
    func endingGracefully(by shutdown: @escaping @Sendable () async -> Void, _ body: () async throws -> Void) async throws {
        try await body()
    }
}
#endif
