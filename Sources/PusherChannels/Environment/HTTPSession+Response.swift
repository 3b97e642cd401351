import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPSession {
    /// Makes a request and waits for its response. Cancelling the task cancels the request, and so does the scheduler after the
    /// request's time-out, which `URLSession` begins anew with each byte.
    package func response(
        to request: URLRequest, endedBy scheduler: (any Scheduler)? = nil
    ) async throws -> (body: Data, response: HTTPURLResponse) {
        let (started, isOver) = (Locked<(any HTTPTask)?>(nil), Locked(false))
        let end = scheduler.map { scheduler in
            scheduler.schedule(at: scheduler.now + .seconds(request.timeoutInterval), label: "end of a request") {
                isOver.withLock { $0 = true }
                started.withLock { $0 }?.cancel()
            }
        }
        defer { end?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = dataTask(with: request) { data, response, error in
                    // Some sessions pass both if the body was cut off.
                    if let response = response as? HTTPURLResponse, error == nil {
                        continuation.resume(returning: (data ?? Data(), response))
                    } else {
                        let isOver = isOver.withLock { $0 }
                        continuation.resume(throwing: isOver ? URLError(.timedOut) : error ?? URLError(.badServerResponse))
                    }
                }
                started.withLock { $0 = task }
                task.resume()
                if Task.isCancelled || isOver.withLock({ $0 }) { task.cancel() }
            }
        } onCancel: {
            started.withLock { $0 }?.cancel()
        }
    }
}
