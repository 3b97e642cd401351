/// Resumes a continuation once, with the first result that is given, before or after the continuation comes.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case given(Result<Value, any Error>)
    }

    private let state = Locked(State.open)

    private func await(with continuation: CheckedContinuation<Value, any Error>) {
        let given: Result<Value, any Error>? = state.withLock { state in
            if case .given(let result) = state { return result }
            state = .awaited(continuation)
            return nil
        }
        if let given { continuation.resume(with: given) }
    }

    /// Waits for the result. If the task is cancelled, calls the closure and throws `CancellationError`.
    func value(cancelling cancel: @escaping @Sendable () -> Void = {}) async throws -> Value {
        try await valueEvenIfCancelled {
            cancel()
            self.give(.failure(CancellationError()))
        }
    }

    /// Waits for the result, even if the task is cancelled, which calls the closure.
    func valueEvenIfCancelled(onCancel: @escaping @Sendable () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { self.await(with: $0) }
        } onCancel: {
            onCancel()
        }
    }

    func give(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            defer { if case .given = state {} else { state = .given(result) } }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }
}
