import Foundation
import Processes
import TestSupport
import Testing

@testable import PusherChannels

/// The routes that every backend has, as any web framework calls them.
@Suite struct PusherAuthHandlerTests {
    private struct Down: Error {}

    private let written = Locked<[String]>([])
    private let secret = APIRig.secret
    private var lines: [String] { written.withLock(\.self) }

    private var handler: PusherAuthHandler {
        PusherAuthHandler(
            authenticator: PusherAuthenticator(key: APIRig.key, secret: secret),
            verifier: PusherWebhookVerifier(secrets: [APIRig.key: secret], tolerance: nil),
            logger: LineRecorder.logger(written))
    }

    private func respond(
        _ body: String, _ authorize: (PusherAuthRequest) async throws -> PusherAuthHandler.Decision = { _ in .allowed }
    ) async -> PusherAuthHandler.Response {
        await handler.respond(to: Array(body.utf8), authorize: authorize)
    }

    private func json(_ response: PusherAuthHandler.Response) throws -> JSONValue {
        try JSONValue(parsing: String(decoding: response.body, as: UTF8.self))
    }

    @Test func `A request for a channel or a sign-in is signed if the decision allows it`() async throws {
        let channel = await respond("socket_id=1.2&channel_name=private-orders")
        #expect(channel.status == 200 && channel.headers == ["Content-Type": "application/json"])
        #expect(try json(channel)["auth"]?.stringValue?.hasPrefix(APIRig.key + ":") == true)
        let presence = await respond("socket_id=1.2&channel_name=presence-shop") { _ in .user(id: "ann", info: ["name": "Ann"]) }
        #expect(try json(presence)["channel_data"]?.stringValue == #"{"user_id":"ann","user_info":{"name":"Ann"}}"#)
        let user = await respond("socket_id=1.2") { request in
            #expect(request.channelName == nil)
            return .user(id: "ann", watchlist: ["bob"])
        }
        #expect(try json(user)["user_data"]?.stringValue == #"{"id":"ann","watchlist":["bob"]}"#)
        let asUser = await respond("socket_id=1.2&channel_name=private-orders") { _ in .user(id: "ann") }
        #expect(asUser == channel, "who it is makes no difference on a private channel")
        #expect(lines.isEmpty)
    }

    @Test func `A refused authorization request is answered with 403`() async {
        let response = await respond("socket_id=1.2&channel_name=private-orders") { _ in .refused }
        #expect(response.status == 403 && response.headers["Retry-After"] == nil)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"error":"refused"}"#)
    }

    @Test(arguments: [
        "", "{", "channel_name=private-orders", "socket_id=1.2:x&channel_name=private-orders",
        "socket_id=1.2&channel_name=private-o:rders", "socket_id=1.2&channel_name=news", "socket_id=1.2&socket_id=1.3",
        #"{"socket_id":"1.2","channel_name":7}"#,
    ])
    func `A malformed authorization request is answered with 400 without asking for a decision`(body: String) async throws {
        let response = await respond(body) { _ in
            Issue.record("asked about \(body)")
            return .allowed
        }
        #expect(response.status == 400)
        #expect(try json(response)["error"] != nil)
        #expect(lines.count == 1)
    }

    @Test func `An authorization request whose decision throws is answered with 503 and Retry-After`() async {
        let response = await respond("socket_id=1.2&channel_name=private-orders") { _ in throw Down() }
        #expect(response.status == 503 && response.headers["Retry-After"] == "5")
        #expect(lines.count == 1 && lines.first?.contains("Down") == true, "\(lines)")
    }

    @Test func `A decision that can't be signed is answered with 500 and no details`() async {
        for decision in [PusherAuthHandler.Decision.allowed, .user(id: "")] {
            let response = await respond("socket_id=1.2&channel_name=presence-shop") { _ in decision }
            #expect(response.status == 500)
            #expect(String(decoding: response.body, as: UTF8.self) == #"{"error":"internal error"}"#)
        }
        #expect(lines.count == 2)
    }

    @Test func `A webhook is handled only if its signature is right, and gets a 503 if the handler throws`() async {
        let body = #"{"time_ms":1,"events":[{"name":"channel_vacated","channel":"news"}]}"#
        let signature = hmacSHA256(body, key: secret)
        func respond(
            _ body: String, _ signature: String, _ handle: (PusherWebhook) async throws -> Void = { _ in }
        ) async -> PusherAuthHandler.Response {
            let fields = ["x-pusher-key": APIRig.key, "x-pusher-signature": signature]
            return await handler.respond(toWebhook: Array(body.utf8), header: { fields[$0.lowercased()] }, handle: handle)
        }
        var events: [PusherWebhook.Event] = []
        #expect(await respond(body, signature) { events += $0.events }.status == 200)
        #expect(events == [.channelVacated(channel: "news")])
        #expect(await respond(body, "00") { _ in Issue.record("handled") }.status == 401)
        let failed = await respond(body, signature) { _ in throw Down() }
        #expect(failed.status == 503 && failed.headers["Retry-After"] == "5", "so that the server sends it again")
        #expect(await respond("", hmacSHA256("", key: secret)).status == 400)
        #expect(lines.count == 3)
        #expect(!lines.contains { $0.contains(secret) })
    }
}
