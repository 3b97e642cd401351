#if LocalServer
import Foundation
import PusherChannels

/// Decides which part responds to a request: the test's router, the machine, or a WebSocket session.
struct LocalServerHandler: Sendable {
    let core: LocalServerCore
    let router = Router()
    let unrecordedRouter = Router()

    /// The settings and closures for the server's connections.
    var terms: ServerTerms {
        ServerTerms(
            limit: core.largestBody, closeTimeout: core.closeTimeout, endsIfDeaf: core.isForgetful,
            reply: { await reply(to: $0) },
            refuse: { head, refusal in
                let request = head.map { RecordedRequest($0, isSecure: core.isSecure) } ?? RecordedRequest(method: "?", url: "")
                core.report(.request(request, status: refusal.status, reason: refusal.reason))
            })
    }

    private func reply(to request: ServerRequest) async -> ServerReply {
        let received = RecordedRequest(request.head, isSecure: core.isSecure, body: Data(request.body))
        if let refusal = core.refusal(of: received) { return .response(refused(received, status: 403, refusal)) }
        if request.head.asksForWebSocket { return upgrade(received, request.head) }
        if let (route, request) = unrecordedRouter.route(of: received) {
            return .response(await settled { try await route.respond(to: request) })
        }
        let noted = core.isForgetful ? nil : core.recorder.note(received)
        let response = await FirstStep.run(then: { noted?.tell() }) {
            await settled { try await self.response(to: received, noted).conditional(on: received) }
        }
        core.report(.request(received, status: response.status, reason: response.reason))
        return .response(response)
    }

    private func refused(_ request: RecordedRequest, status: Int, _ reason: String) -> StubResponse {
        core.report(.request(request, status: status, reason: reason))
        return StubResponse(status: status, text: reason + "\n")
    }

    // MARK: Requests

    /// Returns a response once it is due, or the one that says why there is none.
    private func settled(_ response: () async throws -> StubResponse) async -> StubResponse {
        do {
            return try await core.wait(for: try await response())
        } catch is CancellationError where Task.isCancelled {
            return StubResponse(status: 503, text: "the server is being stopped\n")
        } catch {
            return StubResponse(status: 500, text: "\(error)\n")
        }
    }

    private func response(to request: RecordedRequest, _ noted: RequestRecorder.Noted?) async throws -> StubResponse {
        if let stubbed = core.stubs.reply(request, onTaking: { noted?.replace(with: $0) }) { return stubbed }
        if let (route, request) = router.route(of: request) {
            noted?.replace(with: request)
            return try await route.respond(to: request)
        }
        if request.isForChannelsServer { return request.preflight ?? core.respond(to: request).readable(by: request) }
        if core.isForgetful { return StubResponse(status: 404, text: "there is nothing here\n") }
        return StubResponse(status: 404, text: "\(core.stubs.recordUnmatched(request, nor: router.nearMisses(request)))\n")
    }

    // MARK: WebSockets

    private func upgrade(_ request: RecordedRequest, _ head: RequestHead) -> ServerReply {
        guard !core.isStopping else { return .response(StubResponse(status: 503)) }
        let faults = core.faults
        if let status = faults.upgradeStatus { return .response(StubResponse(status: status)) }
        guard let key = head.webSocketKey else {
            return .response(refused(request, status: 400, "An upgrade to WebSocket names version 13 and has a key of 16 bytes"))
        }
        let accept = faults.spoilsAcceptKey ? "bm90IHRoZSByaWdodCBrZXkhISE=" : UpgradeHandshake.accept(for: key)
        guard let (converse, routed) = router.conversation(for: request) else {
            if let refusal = core.ask({ $0.upgradeRefusal(of: request) }) { return .response(refusal) }
            return .upgrade(accept: accept, binaryAnswer: core.ask { $0.profile.answer(.binary) }) {
                LocalServerSession(core: core, path: head.target, output: $0)
            }
        }
        core.report(.request(routed, status: 101))
        return .upgrade(accept: accept) { RoutedSocket(core: core, request: routed, output: $0, converse: converse) }
    }
}

extension RequestHead {
    fileprivate var asksForWebSocket: Bool { fields.values("Upgrade").contains { $0.isSameWord(as: "websocket") } }

    /// The key of a client's upgrade to WebSocket; `nil` if the request isn't one as it should be (RFC 6455, 4.2.1).
    fileprivate var webSocketKey: String? {
        let keys = fields.contents("Sec-WebSocket-Key")
        let versions = fields.contents("Sec-WebSocket-Version")
        guard method.hasBytes(of: "GET"), minorVersion > 0, !fields.contents("Host").isEmpty,
            fields.values("Connection").contains(where: { $0.isSameWord(as: "upgrade") }),
            versions.count == 1, versions[0].hasBytes(of: "13"), keys.count == 1, Data(base64Encoded: keys[0])?.count == 16
        else { return nil }
        return keys[0]
    }
}

extension StubResponse {
    /// Returns the response as a browser shows it to the page that asked. Pages that mustn't ask were refused before.
    fileprivate func readable(by request: RecordedRequest) -> StubResponse {
        guard let origin = request.header("Origin") else { return self }
        var copy = self
        copy.headers.merge(["Access-Control-Allow-Origin": origin, "Vary": "Origin"]) { $1 }
        return copy
    }
}

extension RecordedRequest {
    /// The response to a browser that asks whether a page may send fields of its own to an authorization endpoint.
    fileprivate var preflight: StubResponse? {
        guard method.hasBytes(of: "OPTIONS"), ["/pusher/auth", "/pusher/user-auth"].contains(Name(path)), header("Origin") != nil
        else { return nil }
        let fields = header("Access-Control-Request-Headers") ?? ""
        let headers = ["Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": fields]
        return StubResponse(status: 204, headers: headers).readable(by: self)
    }

    /// Creates a record of a request that came to a server. Fields with the same name are one, as they mean the same (RFC 9110, 5.3).
    fileprivate init(_ head: RequestHead, isSecure: Bool, body: Data = Data()) {
        let fields = Dictionary(grouping: head.fields) { $0.name.lowercased() }.values
        let headers = fields.map { ($0[0].name, $0.map(\.value).joined(separator: ", ")) }
        let host = head.fields.contents("Host").first.map { "\(isSecure ? "https" : "http")://\($0)" } ?? ""
        self.init(method: head.method, url: host + head.target, headers: Dictionary(uniqueKeysWithValues: headers), body: body)
    }
}
#endif
