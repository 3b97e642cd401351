#if os(Linux)
import TestSupport
import Testing

@testable import pusher_channels

/// The visitors that may publish on the live page.
@Suite struct PageVisitorTests {
    private func visitor(_ headers: [String: String]) -> PageVisitor {
        PageVisitor(RecordedRequest(method: "POST", url: "/page/publish", headers: headers))
    }

    private static let requests: [(origin: String?, contentType: String?, isLetIn: Bool)] = [
        ("http://127.0.0.1:6001", "application/json", true),
        ("https://127.0.0.1:6001", "Application/JSON; charset=utf-8", true),
        ("http://localhost:6001", "application/json", false),
        ("http://127.0.0.1:3000", "application/json", false),
        ("http://127.0.0.1", "application/json", false),
        ("https://elsewhere.example", "application/json", false),
        ("null", "application/json", false),
        ("", "application/json", false),
        (nil, "application/json", false),
        ("http://127.0.0.1:6001", "text/plain", false),
        ("http://127.0.0.1:6001", "text/plain; application/json", false),
        ("http://127.0.0.1:6001", "application/x-www-form-urlencoded", false),
        ("http://127.0.0.1:6001", nil, false),
    ]

    @Test(arguments: requests)
    func onlyThePageItselfPublishes(origin: String?, contentType: String?, isLetIn: Bool) {
        var headers = ["Host": "127.0.0.1:6001"]
        headers["Origin"] = origin
        headers["Content-Type"] = contentType
        #expect((visitor(headers).publishRefusal == nil) == isLetIn)
    }
}
#endif
