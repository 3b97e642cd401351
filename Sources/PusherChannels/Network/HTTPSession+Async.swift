import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPSession {
    /// Makes a request and waits for its response; a cancelled task cancels the request.
    package func response(to request: URLRequest) async throws -> (body: Data, response: HTTPURLResponse) {
        let started = Locked<(any HTTPTask)?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = dataTask(with: request) { data, response, error in
                    if let response = response as? HTTPURLResponse {
                        continuation.resume(returning: (data ?? Data(), response))
                    } else {
                        continuation.resume(throwing: error ?? URLError(.badServerResponse))
                    }
                }
                started.withLock { $0 = task }
                task.resume()
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            started.withLock { $0 }?.cancel()
        }
    }
}
