import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes HTTP requests: the seam under authorization and the HTTP API. `URLSession` is one; what is used if nothing else is said
/// is ``DefaultTransport/httpSession``.
public protocol HTTPSession: Sendable {
    /// The task that stands for one request.
    associatedtype DataTask: HTTPTask

    /// Prepares a request; nothing happens before the task's `resume()`.
    ///
    /// `completionHandler` is called exactly once, on any thread, with either a response and its body or an error.
    func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> DataTask
}

/// One HTTP request under way.
public protocol HTTPTask: Sendable {
    /// Starts the request; a second call does nothing.
    func resume()

    /// Gives the request up; its completion handler hears `URLError.cancelled`, unless it was called already.
    func cancel()
}

/// A session whose requests can be made another way: what a client's ``PusherClientOptions/tls`` and
/// ``PusherClientOptions/proxy`` reach.
public protocol RoutedHTTPSession: HTTPSession {
    /// A session like this one, with these settings in place of its own.
    func routed(tls: TLSConfiguration, proxy: ProxyConfiguration) -> any HTTPSession
}

extension URLSession: HTTPSession {}
extension URLSessionDataTask: HTTPTask {}

extension HTTPSession {
    /// Makes a request and waits for its response; a cancelled task cancels the request.
    package func response(to request: URLRequest) async throws -> (body: Data, response: HTTPURLResponse) {
        let started = Locked<(any HTTPTask)?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = dataTask(with: request) { data, response, error in
                    // Some sessions have both where the body was cut off.
                    if let response = response as? HTTPURLResponse, error == nil {
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

extension HTTPURLResponse {
    /// The time that the server wants to be left alone for: `Retry-After` in seconds, a day at most. A date, which is told by another
    /// clock, is none.
    var retryAfter: Duration? {
        guard let field = value(forHTTPHeaderField: "Retry-After"), !field.isEmpty,
            field.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        let day = 24 * 60 * 60
        return .seconds(min(Int(field) ?? day, day))
    }
}
