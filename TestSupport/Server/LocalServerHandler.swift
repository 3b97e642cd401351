#if LocalServer
import FlyingFox
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides which part responds to a request: the test's router, the machine, or a WebSocket session.
struct LocalServerHandler: HTTPHandler {
    let core: LocalServerCore
    let router = Router()
    let unrecordedRouter = Router()

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        if request.headers[.upgrade]?.lowercased() == "websocket" {
            guard !core.isStopping else { return HTTPResponse(statusCode: .serviceUnavailable) }
            let faults = core.faults
            if let status = faults.upgradeStatus { return HTTPResponse(StubResponse(status: status)) }
            return faults.spoil(try await socketHandler(of: request).handleRequest(request))
        }
        guard let body = try await body(of: request) else {
            // FlyingFox skips the rest of the body, and keeps nothing of it.
            core.report(.request(RecordedRequest(request, isSecure: core.isSecure, body: Data()), status: 413))
            return HTTPResponse(StubResponse(status: 413, text: "a request has \(core.largestBody) bytes at most\n"))
        }
        let received = RecordedRequest(request, isSecure: core.isSecure, body: body)
        if let (route, request) = unrecordedRouter.route(of: received) {
            return HTTPResponse(await reply { try await route.respond(to: request) })
        }
        let noted = core.isForgetful ? nil : core.recorder.note(received)
        let response = await FirstStep.run(then: { noted?.tell() }) {
            await reply { try await self.response(to: received, noted).conditional(on: received) }
        }
        core.report(.request(received, status: response.status, reason: response.reason))
        return HTTPResponse(response)
    }

    /// Reads a request's body; `nil` if it is too large.
    private func body(of request: HTTPRequest) async throws -> Data? {
        guard core.isForgetful else { return try await request.bodyData }
        let limit = core.largestBody
        if let count = request.bodySequence.count, count > limit { return nil }
        var body = Data()
        for try await piece in request.bodySequence {
            body += piece
            if body.count > limit { return nil }
        }
        return body
    }

    private func reply(_ response: () async throws -> StubResponse) async -> StubResponse {
        do {
            return try await core.wait(for: try await response())
        } catch is CancellationError where Task.isCancelled {
            return StubResponse(status: 503, text: "the server is being stopped\n")
        } catch {
            return StubResponse(status: 500, text: "\(error)\n")
        }
    }

    private func socketHandler(of request: HTTPRequest) -> WebSocketHTTPHandler {
        let received = RecordedRequest(request, isSecure: core.isSecure, body: Data())
        guard let (converse, routed) = router.conversation(for: received) else {
            return WebSocketHTTPHandler(handler: LocalServerSession(core: core, path: request.target.rawValue))
        }
        core.report(.request(routed, status: 101))
        return WebSocketHTTPHandler(handler: RoutedSocketSession(core: core, request: routed, converse: converse))
    }

    private func response(to request: RecordedRequest, _ noted: RequestRecorder.Noted?) async throws -> StubResponse {
        if let stubbed = core.stubs.reply(request, onTaking: { noted?.replace(with: $0) }) { return stubbed }
        if let (route, request) = router.route(of: request) {
            noted?.replace(with: request)
            return try await route.respond(to: request)
        }
        if request.isForChannelsServer { return core.respond(to: request) }
        if core.isForgetful { return StubResponse(status: 404, text: "there is nothing here\n") }
        return StubResponse(status: 404, text: "\(core.stubs.recordUnmatched(request, nor: router.nearMisses(request)))\n")
    }
}

extension RecordedRequest {
    init(_ request: HTTPRequest, isSecure: Bool, body: Data) {
        let headers = request.headers.map { ($0.key.rawValue, $0.value) }
        self.init(
            method: request.method.rawValue,
            url: (request.headers[.host].map { "\(isSecure ? "https" : "http")://\($0)" } ?? "") + request.target.rawValue,
            headers: Dictionary(headers, uniquingKeysWith: { "\($0), \($1)" }), body: body)
    }
}

extension HTTPResponse {
    init(_ response: StubResponse) {
        var headers = HTTPHeaders()
        for (name, value) in response.headers { headers[HTTPHeader(name)] = value }
        let phrase = response.status == 200 ? "OK" : HTTPURLResponse.localizedString(forStatusCode: response.status)
        self.init(statusCode: HTTPStatusCode(response.status, phrase: phrase), headers: headers, body: response.body)
    }
}
#endif
