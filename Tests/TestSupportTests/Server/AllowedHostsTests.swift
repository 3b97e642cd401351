import TestSupport
import Testing

/// The names under which a server is asked for, and whose web pages use it.
struct AllowedHostsTests {
    private func isServed(host: String?, origin: String? = nil, alsoNamed others: [String] = []) -> Bool {
        var request = RecordedRequest(method: "POST", url: "/pusher/auth")
        request.headers["host"] = host
        request.headers["Origin"] = origin
        return AllowedHosts(alsoNamed: others).refusal(of: request) == nil
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:6001", "localhost", "LOCALHOST:6001", "localhost:", "dev.example:443", "Dev.Example",
    ])
    func `A request whose host or origin is this machine or a given name is served`(name: String) {
        #expect(isServed(host: name, alsoNamed: ["dev.example"]))
        #expect(isServed(host: "localhost", origin: "http://\(name)", alsoNamed: ["dev.example"]))
        #expect(isServed(host: "localhost", origin: "capacitor://\(name)", alsoNamed: ["dev.example"]))
    }

    private static let otherNames: [String?] = [
        "", ":6001", "dev.example", "127.0.0.1.elsewhere.example", "elsewhere.example:6001", "localhost.elsewhere.example",
        "127.0.0.1:6001, elsewhere.example", "elsewhere.example, 127.0.0.1", "127.0.0.1:6001@elsewhere.example",
        "192.168.0.2:6001", "[::1]:6001", "127.0.0.1 ", "127.1", "localhost\u{301}", "localhost:6001\u{301}", nil,
    ]

    @Test(arguments: otherNames) func `A request whose host or origin is any other name is refused`(name: String?) {
        #expect(!isServed(host: name))
        if let name { #expect(!isServed(host: "localhost", origin: "http://\(name)")) }
    }

    /// A page in a sandbox, and one that a browser read from a file, have no origin.
    @Test(arguments: [
        "null", "", "localhost", "http:localhost", "http:/localhost", "://", "file://", "http://a http://localhost",
    ])
    func `A request whose origin is not an address with a host is refused`(origin: String) {
        #expect(!isServed(host: "localhost", origin: origin))
    }
}
