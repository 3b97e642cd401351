import Foundation

/// Redirects of HTTP responses (RFC 9110, 15.4).
extension ResponseHead {
    /// Returns the request to make instead of `request`; `nil` if the response names no location, or one that is less secure.
    func redirect(of request: WebSocketRequest) -> WebSocketRequest? {
        guard [301, 302, 303, 307, 308].contains(status),
            let location = fields.first(where: { $0.name.lowercased() == "location" })?.value,
            let base = URL(string: request.url), let url = URL(string: location, relativeTo: base)?.absoluteURL,
            let scheme = url.scheme?.lowercased(), let secure = ["wss": true, "https": true, "ws": false, "http": false][scheme],
            let host = url.host, !host.isEmpty
        else { return nil }
        // An encrypted request isn't repeated in the clear.
        guard secure || !request.secure else { return nil }
        var next = request
        next.secure = secure
        next.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        next.port = url.port ?? (secure ? 443 : 80)
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)
        next.path = (path?.percentEncodedPath).flatMap { $0.isEmpty ? nil : $0 } ?? "/"
        if let query = path?.percentEncodedQuery { next.path += "?\(query)" }
        // Credentials are only for the host for which they were given, and so is trust without verification.
        if next.host != request.host || next.port != request.port {
            next.headers = [:]
            next.tls.identity = nil
            next.tls.verification = .full
        }
        next.maximumRedirects -= 1
        // A location that can't be requested counts as none: it is the server's mistake, not one in the options.
        return (try? UpgradeRequest(next)) == nil ? nil : next
    }
}
