import Testing

@testable import PusherChannels

@Suite struct RedirectTests {
    private let request = WebSocketRequest(
        secure: true, host: "ws.example", port: 443, path: "/app/key?protocol=7", headers: ["Authorization": "secret"],
        maximumRedirects: 3)

    private func redirect(_ location: String?, status: Int = 307, of request: WebSocketRequest? = nil) -> WebSocketRequest? {
        let fields = location.map { [(name: "location", value: $0)] } ?? []
        return ResponseHead(status: status, fields: fields).redirect(of: request ?? self.request)
    }

    @Test(arguments: [
        ("wss://other.example/app/key?a=b", "wss://other.example:443/app/key?a=b"),
        ("https://other.example:8443/x%20y", "wss://other.example:8443/x%20y"), ("/elsewhere", "wss://ws.example:443/elsewhere"),
        ("?a=b", "wss://ws.example:443/app/key?a=b"), ("//other.example", "wss://other.example:443/"),
        ("https://[::1]:1/", "wss://[::1]:1/"),
    ])
    func whereTo(location: String, url: String) {
        #expect(redirect(location)?.url == url)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func statusesThatSendElsewhere(status: Int) {
        #expect(redirect("/x", status: status)?.maximumRedirects == 2)
    }

    @Test(arguments: [101, 200, 300, 304, 305, 401, 503])
    func statusesThatDoNot(status: Int) {
        #expect(redirect("/x", status: status) == nil)
    }

    @Test(arguments: [nil, "ws://ws.example/", "http://ws.example/", "ftp://ws.example/", "mailto:a@b", "wss://", "https://"])
    func placesNotToGo(location: String?) {
        #expect(redirect(location) == nil)
    }

    @Test func whatCannotBeAskedForIsNoPlaceToGo() {
        for location in ["wss://ws.example:0/", "/" + String(repeating: "x", count: 8192)] { #expect(redirect(location) == nil) }
    }

    @Test func fromPlainTextToTLSIsFine() {
        let plain = WebSocketRequest(secure: false, host: "ws.example", port: 80, path: "/")
        #expect(redirect("https://ws.example/", of: plain)?.url == "wss://ws.example:443/")
        #expect(redirect("http://ws.example:81/", of: plain)?.url == "ws://ws.example:81/")
        #expect(redirect("http://other.example/", of: plain)?.url == "ws://other.example:80/")
    }

    @Test func trustAndIdentityAreForTheHostTheyWereGivenFor() {
        var request = request
        request.tls.verification = .insecureAcceptAnyCertificate
        request.tls.identity = TLSConfiguration.Identity(certificateChain: .text("chain"), privateKey: .text("key"))
        #expect(redirect("/x", of: request)?.tls == request.tls)
        for other in ["wss://other.example/", "wss://ws.example:444/", "//other.example/"] {
            #expect(redirect(other, of: request)?.tls == TLSConfiguration())
        }
    }

    @Test func headersAreForTheHostTheyWereGivenFor() {
        #expect(redirect("/x")?.headers == ["Authorization": "secret"])
        #expect(redirect("wss://other.example/")?.headers == [:])
        #expect(redirect("wss://ws.example:444/")?.headers == [:])
    }
}
