import TestSupport

/// The sender of a request for the live page, and its rights. A browser shows any web page, and lets each of them send requests
/// to this machine.
struct PageVisitor {
    /// The names under which a browser on this machine reaches the page.
    private static let loopbackNames: Set = ["127.0.0.1", "localhost"]

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

    /// Returns the reason why the page isn't shown, or `nil`. A web page from elsewhere may point its own name to this machine
    /// (DNS rebinding), and could then read this page under that name.
    func refusal(alsoUnder names: Set<String>) -> String? {
        guard Self.loopbackNames.union(names).contains(hostName) else {
            return
                "This page has the names 127.0.0.1 and localhost only; `pusher-channels serve --page-host NAME` gives it another."
        }
        return nil
    }

    /// The reason why a request that changes something is refused, or `nil`. Browsers say which web page a request comes from,
    /// and ask for permission before they send JSON elsewhere.
    var publishRefusal: String? {
        guard let origin, ["http://\(authority)", "https://\(authority)"].contains(origin) else {
            return "Only the page itself publishes here. Others use the HTTP API, or `pusher-channels trigger`."
        }
        guard contentType?.prefix(while: { $0 != ";" }) == "application/json" else { return "Events come as application/json." }
        return nil
    }

    /// The authority without the port; empty if the text after the name isn't a port.
    private var hostName: String {
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let hasPort = parts.dropFirst().allSatisfy { $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
        return hasPort ? parts.first.map(String.init) ?? "" : ""
    }
}
