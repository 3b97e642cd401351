import Foundation

extension HTTPProxy {
    /// Creates a proxy from its address as environment variables hold it: `http://user:password@host:port`.
    ///
    /// Everything but the host may be left out; the port is 80 then. Characters that would end the user's name or the password
    /// must be percent-encoded. The result is `nil` for other kinds of proxy, and for a text that isn't an address.
    public init?(url: String) {
        var rest = url[...]
        if let scheme = rest.range(of: "://") {
            guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
            rest = rest[scheme.upperBound...]
        }
        // A slash that isn't encoded in a password: everything before it would count as the host, and appear in errors.
        if let slash = rest.firstIndex(of: "/"), rest[slash...].contains("@") { return nil }
        rest = rest.prefix { $0 != "/" }
        var credentials: Credentials?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = parts.map { String($0).removingPercentEncoding ?? String($0) }
            credentials = Credentials(user: decoded[0], password: decoded.count > 1 ? decoded[1] : "")
            rest = rest[rest.index(after: at)...]
        }
        var port = 80
        var host = String(rest)
        if rest.hasPrefix("["), let end = rest.lastIndex(of: "]") {
            host = String(rest[..<end].dropFirst())
            rest = rest[rest.index(after: end)...]
            if !rest.isEmpty {
                guard rest.hasPrefix(":"), let number = Int(rest.dropFirst()) else { return nil }
                port = number
            }
        } else if let colon = rest.lastIndex(of: ":") {
            guard let number = Int(rest[rest.index(after: colon)...]) else { return nil }
            port = number
            host = String(rest[..<colon])
        }
        guard HTTPSyntax.isHost(host), (1...65535).contains(port) else { return nil }
        self.init(host: host, port: port, credentials: credentials)
    }
}
