import Foundation
import PusherChannels
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
