#if ServiceLifecycle
import ServiceLifecycle

/// With the trait `ServiceLifecycle` a client is a service: ``Pusher/run()`` ends in good order, as ``Pusher/shutdown(within:)`` does it, when
/// the group that it runs in is asked to shut down; also where that is asked before it has begun.
///
/// ```swift
/// let group = ServiceGroup(services: [pusher, reader], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// So does a stream that is read in such a group: the reader gets what came before, and its loop ends. Put readers behind the client in the
/// group's list, which is asked to end from the last to the first.
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
        // It never fails: nobody gives an error.
        try? await withCheckedThrowingContinuation { done.await(with: $0) }
    }
}
#else
extension PusherEnvironment {
    func endingGracefully(by shutdown: @escaping @Sendable () async -> Void, _ body: () async throws -> Void) async throws {
        try await body()
    }
}
#endif
