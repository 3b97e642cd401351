import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes HTTP requests: the seam under authorization and the HTTP API. `URLSession` is one; the default is
/// ``DefaultTransport/httpSession``.
public protocol HTTPSession: Sendable {
    /// The task that stands for one request.
    associatedtype DataTask: HTTPTask

    /// Prepares a request; nothing happens before the task's `resume()`.
    ///
    /// `completionHandler` is called exactly once, on any thread, with either a response and its body or an error. A redirect must
    /// be passed on like any other response: followed, it would turn a publish into a GET that succeeds and publishes nothing.
    func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> DataTask
}

/// One HTTP request under way.
public protocol HTTPTask: Sendable {
    /// Starts the request; a second call does nothing.
    func resume()

    /// Cancels the request; its completion handler receives `URLError.cancelled`, unless it was called already.
    func cancel()
}

/// A session that can be given other settings: a client's ``PusherClientOptions/tls`` and ``PusherClientOptions/proxy`` apply to
/// it.
public protocol RoutedHTTPSession: HTTPSession {
    /// Returns a session like this one, with these settings instead of its own.
    func routed(tls: TLSConfiguration, proxy: ProxyConfiguration) -> any HTTPSession
}

extension URLSession: HTTPSession {}
extension URLSessionDataTask: HTTPTask {}

extension HTTPURLResponse {
    /// The time for which the server wants no requests: `Retry-After` in seconds, a day at most. A date is ignored, because it
    /// comes from another clock.
    var retryAfter: Duration? {
        guard let field = value(forHTTPHeaderField: "Retry-After"), !field.isEmpty,
            field.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        let day = 24 * 60 * 60
        return .seconds(min(Int(field) ?? day, day))
    }
}
