import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension StubResponse {
    /// Returns the response to a request as it is sent (RFC 9112, 4).
    ///
    /// - Parameters:
    ///   - request: The request's head; `nil` if it couldn't be read.
    ///   - keepsAlive: Indicates whether another request may follow on the connection.
    func bytes(to request: RequestHead?, keepsAlive: Bool) -> [UInt8] {
        var response = self
        if !keepsAlive {
            response.headers["Connection"] = "close"
        } else if request?.minorVersion == 0 {
            // Which such a client doesn't expect otherwise.
            response.headers["Connection"] = "keep-alive"
        }
        // These have no body, and no length (RFC 9110, 8.6).
        guard status != 204, status != 304 else { return response.head(length: nil) }
        let head = response.head(length: body.count)
        return request?.method == "HEAD" ? head : head + body
    }

    /// Returns the status line and the fields, with the length of the body if the response has one of its own.
    func head(length: Int?) -> [UInt8] {
        var fields = headers.map { (name: $0.key, value: $0.value) }
        if let length, fields.contents("Content-Length").isEmpty { fields.append(("Content-Length", "\(length)")) }
        fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let phrase = status == 200 ? "OK" : HTTPURLResponse.localizedString(forStatusCode: status)
        var text = "HTTP/1.1 \(status) \(phrase)\r\n"
        for (name, value) in fields {
            // Cookies can't share a field, as other values can (RFC 6265, 3).
            let values =
                name.isSameWord(as: "Set-Cookie") ? value.split(separator: #/, (?=[^=;,\s]+=)/#).map(String.init) : [value]
            for value in values { text += "\(name): \(value.inOneField)\r\n" }
        }
        return Array("\(text)\r\n".utf8)
    }
}

extension String {
    /// The text without what would end a field, as a route may have it from its client.
    fileprivate var inOneField: String {
        let isControl: (UInt8) -> Bool = { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        return utf8.contains(where: isControl) ? String(decoding: utf8.map { isControl($0) ? 0x20 : $0 }, as: UTF8.self) : self
    }
}
