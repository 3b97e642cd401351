import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session that gives every request the same response at once.
struct FixedSession: HTTPSession {
    let data: Data
    let response: HTTPURLResponse?

    func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> FixedTask {
        FixedTask { [data, response] in completionHandler(data, response, nil) }
    }
}

struct FixedTask: HTTPTask {
    let httpResponse: @Sendable () -> Void

    func resume() { httpResponse() }
    func cancel() {}
}

/// A stand-in for the default transport, because there is no network here.
public enum DefaultTransport {
    /// A session that responds with nothing.
    public static let httpSession: any HTTPSession = FixedSession(data: Data(), response: nil)

    /// Must not be called.
    @Sendable public static func makeWebSocket() -> any WebSocket { fatalError("nobody connects") }
}
