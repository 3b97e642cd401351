#if ServiceLifecycle
import ServiceLifecycle

extension OneShot {
    /// Waits for the result as ``value(cancelling:)`` does; a service group that is asked to end counts as a cancellation: the client of the
    /// group, which would end the wait, is asked only once this one's service has returned.
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
