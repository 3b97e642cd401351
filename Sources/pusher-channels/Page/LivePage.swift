import Foundation
import PusherChannels
import TestSupport

/// A page for browsers on this machine that shows live what happens on a server, and publishes events.
///
/// It shows no secret and asks for none; the server decrypts what it shows of encrypted channels. Anybody on this machine may
/// publish, but web pages from elsewhere can't (``PageVisitor``), nor may they read it (``AllowedHosts``). Data from clients is
/// text in a JSON document, which the page's script puts into the page as text.
struct LivePage: Sendable {
    /// The name of the profile that the server imitates.
    let profile: String
    /// Tells the log of this server from that of one that was at the same address before.
    private let run = String(UInt64.random(in: 0 ... .max), radix: 36)

    /// Makes a server show the page at `/`.
    func show(_ server: LocalServer) {
        server.recordEvents()
        add("GET /", to: server) { _, _ in document() }
        add("GET /page/state", to: server) { server, request in state(of: server, for: request.parameters) }
        add("GET /page/data", to: server) { server, request in data(for: request.parameters, of: server) }
        add("POST /page/publish", to: server) { server, request in publish(request, on: server) }
    }

    private func add(
        _ key: String, to server: LocalServer, _ response: @escaping @Sendable (LocalServer, RecordedRequest) -> StubResponse
    ) {
        server.unrecordedRouter.on(key) { [weak server] request in
            server.map { response($0, request).guarded } ?? .http(503)
        }
    }

    // MARK: Pages

    private func document() -> StubResponse {
        var generator = SystemRandomNumberGenerator()
        let nonce = String(generator.next() as UInt64, radix: 36) + String(generator.next() as UInt64, radix: 36)
        var response = StubResponse(text: PageDocument.html(nonce: nonce), contentType: "text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'",
            "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ].joined(separator: "; ")
        return response
    }

    private struct State: Encodable {
        let profile: String
        let run: String
        let server: ServerOverview
    }

    private func state(of server: LocalServer, for query: [String: String]) -> StubResponse {
        func part(_ list: String) -> ServerOverview.View.Part {
            ServerOverview.View.Part(search: query[list] ?? "", start: query["\(list)-start"].flatMap { Int($0) } ?? 0)
        }
        let view = ServerOverview.View(
            lastEntry: query["run"] == run ? query["last"].flatMap { Int($0) } ?? 0 : 0, channels: part("channels"),
            isBySize: query["order"] == "size", connections: part("connections"))
        return .json(State(profile: profile, run: run, server: server.overview(view))).withoutMarkup
    }

    /// All data of an event in the log.
    private func data(for query: [String: String], of server: LocalServer) -> StubResponse {
        guard query["run"] == run, let number = query["number"].flatMap({ Int($0) }), let data = server.data(ofEntry: number)
        else { return .http(404) }
        return .json(data).withoutMarkup
    }

    // MARK: Publishing

    private func publish(_ request: RecordedRequest, on server: LocalServer) -> StubResponse {
        if let refusal = PageVisitor(request).publishRefusal { return StubResponse(status: 403, text: refusal) }
        let members = request.json
        guard let app = members?["app"]?.stringValue, let channel = members?["channel"]?.stringValue,
            let event = members?["event"]?.stringValue, let data = members?["data"]?.stringValue
        else {
            return StubResponse(status: 400, text: "app, channel, event and data are required, as strings.")
        }
        switch server.tryToPublish(channel: channel, event: event, data: data, appKey: app) {
        case .published(let receivers): return .json(["receivers": receivers])
        case .refused(let reason): return StubResponse(status: 400, text: reason)
        }
    }
}

extension StubResponse {
    /// The response with headers that keep other web pages from using it, and browsers from misinterpreting it.
    fileprivate var guarded: StubResponse {
        let headers = [
            "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
        ]
        var response = self
        response.headers.merge(headers) { $1 }
        return response
    }

    /// JSON with the same meaning and no markup, even for a recipient that takes it for HTML.
    fileprivate var withoutMarkup: StubResponse {
        var response = self
        response.body = Data(body.flatMap { $0 == UInt8(ascii: "<") ? Array(#"\u003c"#.utf8) : [$0] })
        return response
    }
}
