#if ServiceLifecycle
import ServiceLifecycle

extension OneShot {
    /// Waits for the result as ``value(cancelling:)`` does, but treats a graceful shutdown as a cancellation: the service group's
    /// client, which would end the wait, is asked to shut down only after this caller's service has returned.
    func valueUnlessAskedToEnd(cancelling cancel: @escaping @Sendable () -> Void = {}) async throws -> Value {
        try await withGracefulShutdownHandler {
            try await value(cancelling: cancel)
        } onGracefulShutdown: {
            cancel()
            self.give(.failure(CancellationError()))
        }
    }
}
#else
extension OneShot {
    func valueUnlessAskedToEnd(cancelling cancel: @escaping @Sendable () -> Void = {}) async throws -> Value {
        try await value(cancelling: cancel)
    }
}
#endif
