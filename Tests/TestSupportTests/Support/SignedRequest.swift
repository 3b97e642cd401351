import Foundation
import TestSupport

extension RecordedRequest {
    /// Returns a request to the HTTP API, signed as a server library signs it. Each part can be replaced.
    static func signed(
        _ method: String, _ path: String, query: [String: String] = [:], body: String = "",
        key: String = "local-key", secret: String = "local-secret", timestamp: Int = 1_700_000_000,
        replacing replaced: [String: String?] = [:]
    ) -> RecordedRequest {
        var query = query
        query["auth_key"] = key
        query["auth_timestamp"] = String(timestamp)
        query["auth_version"] = "1.0"
        if !body.isEmpty { query["body_md5"] = md5(body.utf8) }
        query["auth_signature"] = Signature.request(method: method, path: path, query: query, secret: secret)
        for (name, value) in replaced { query[name] = value }
        let text = query.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        return RecordedRequest(method: method, url: "\(path)?\(text)", body: Data(body.utf8))
    }
}

/// The events of a server as a stream to wait on.
struct ServerEvents {
    let stream: AsyncStream<LocalServer.Event>
    let settings: LocalServer.Settings

    init(closeTimeout: Duration = .seconds(20), scheduler: any Scheduler = LiveScheduler()) {
        let (stream, continuation) = AsyncStream<LocalServer.Event>.makeStream()
        self.stream = stream
        settings = LocalServer.Settings(scheduler: scheduler, closeTimeout: closeTimeout) { continuation.yield($0) }
    }

    /// Waits for a notice, and skips the events before it.
    func wait(for notice: ServerMachine.Notice) async throws {
        _ = try await next("\(notice)", in: stream) { $0 == .notice(notice) }
    }
}
