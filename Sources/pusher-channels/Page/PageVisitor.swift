import TestSupport

/// The sender of a request to publish on the live page. A browser shows any web page, and lets each of them send requests to this
/// machine; those of this machine's other servers may use this one, but not publish on its page.
struct PageVisitor {
    /// The destination as the request names it: a name, and a port unless it is the default.
    private let authority: String
    /// The origin of the web page that made the request, if one did.
    private let origin: String?
    private let contentType: String?

    init(_ request: RecordedRequest) {
        authority = request.header("Host")?.lowercased() ?? ""
        origin = request.header("Origin")?.lowercased()
        contentType = request.header("Content-Type")?.lowercased()
    }

    /// The reason why a request that changes something is refused, or `nil`. Browsers say which web page a request comes from,
    /// and ask for permission before they send JSON elsewhere.
    var publishRefusal: String? {
        guard let origin, ["http://\(authority)", "https://\(authority)"].contains(origin) else {
            return "Only the page itself publishes here. Others use the HTTP API, or `pusher-channels trigger`."
        }
        let mediaType = contentType?.utf8.prefix { $0 != UInt8(ascii: ";") }
        guard mediaType?.elementsEqual("application/json".utf8) == true else { return "Send events as application/json." }
        return nil
    }
}
