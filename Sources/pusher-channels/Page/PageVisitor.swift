import TestSupport

/// The sender of a request for the live page, and its rights: a browser shows any web page, and lets each of them send requests to this
/// machine.
struct PageVisitor {
    /// The names by which a browser on this machine reaches the page.
    private static let loopbackNames: Set = ["127.0.0.1", "localhost"]

    /// The destination as the request names it: a name, and a port unless it is the usual one.
    private let authority: String
    /// The origin of the web page that made the request, if one did.
    private let origin: String?
    private let contentType: String?

    init(_ request: RecordedRequest) {
        authority = request.header("Host")?.lowercased() ?? ""
        origin = request.header("Origin")?.lowercased()
        contentType = request.header("Content-Type")?.lowercased()
    }

    /// Returns why the page isn't shown, or `nil`. A web page elsewhere may have its own name lead to this machine (DNS rebinding), and
    /// would then be asked by its own name for what is here.
    func refusal(alsoUnder names: Set<String>) -> String? {
        guard Self.loopbackNames.union(names).contains(hostName) else {
            return
                "This page has the names 127.0.0.1 and localhost only; `pusher-channels serve --page-host NAME` gives it another."
        }
        return nil
    }

    /// Returns why a request that changes something isn't obeyed, or `nil`. Browsers say which web page a request comes from, and
    /// ask before they send JSON elsewhere.
    var publishRefusal: String? {
        guard let origin, ["http://\(authority)", "https://\(authority)"].contains(origin) else {
            return "Only the page itself publishes here. Others use the HTTP API, or `pusher-channels trigger`."
        }
        guard contentType?.prefix(while: { $0 != ";" }) == "application/json" else { return "Events come as application/json." }
        return nil
    }

    /// The authority without the port; empty where what follows the name is none.
    private var hostName: String {
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let hasPort = parts.dropFirst().allSatisfy { $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
        return hasPort ? parts.first.map(String.init) ?? "" : ""
    }
}
