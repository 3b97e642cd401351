import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers every request at once, always the same.
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

/// There is no network here.
public enum DefaultTransport {
    /// Answers with nothing.
    public static let httpSession: any HTTPSession = FixedSession(data: Data(), response: nil)

    /// Is not called.
    @Sendable public static func makeWebSocket() -> any WebSocket { fatalError("nobody connects") }
}
