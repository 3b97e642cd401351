import Foundation
import PusherChannels
import TestSupport
import Testing

/// The snippets of "Publishing and webhooks", word for word; `ci/checks/snippets` compares them. Most are only compiled:
/// the tests of the HTTP API prove what they call.
@Suite struct PublishingPageTests {
    private struct Order: Encodable { let id: Int }

    private struct User {
        let id: String
        let name: String

        func mayJoin(_ channel: String) -> Bool { channel == "presence-floor" }
    }

    private actor Outbox {
        func keep(_ order: Order, mayBePublished: Bool) throws {}
    }

    private func listeners(_ api: PusherHTTPAPI, _ price: [String: Int], excluding socketID: String) async throws -> Int {
        let told = try await api.trigger(
            channels: ["prices", "presence-floor"], eventName: "price", data: price, excluding: socketID,
            info: [.subscriptionCount])
        let listeners = told.compactMap(\.subscriptionCount).reduce(0, +)
        return listeners
    }

    private func publishTogether(_ api: PusherHTTPAPI, _ price: [String: Int], _ order: Order) async throws {
        try await api.triggerBatch([
            PusherBatchEvent(channel: "prices", eventName: "price", data: price),
            PusherBatchEvent(channel: "private-orders", eventName: "placed", data: order),
        ])
    }

    private func selfHosted() -> PusherHTTPAPI {
        let api = PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: 6001, useTLS: false)
        return api
    }

    private func publish(_ order: Order, by api: PusherHTTPAPI, or outbox: Outbox) async throws {
        do {
            try await api.trigger(channels: ["orders"], eventName: "placed", data: order)
        } catch let error as PusherError {
            // What would fail the same way next time is for people to look at.
            guard case .httpAPI(let failure) = error.kind, error.isRetryable else { throw error }
            try await outbox.keep(order, mayBePublished: failure.mayHaveBeenCarriedOut)
        } catch let error as CancellationError {
            // In a task of its own: this one is cancelled, and so would be what a database is asked from here.
            try await Task { try await outbox.keep(order, mayBePublished: true) }.value
            throw error
        }
    }

    private func withKeys(_ newKey: String, _ oldKey: String, _ secret: String) throws -> (PusherHTTPAPI, PusherAuthenticator) {
        let keys = [try EncryptionMasterKey(base64: newKey), try EncryptionMasterKey(base64: oldKey)]
        let api = PusherHTTPAPI(
            appID: "app-id", key: "app-key", secret: secret, host: .cluster("eu"),
            options: PusherHTTPAPIOptions(encryptionMasterKeys: keys))
        let authenticator = PusherAuthenticator(key: "app-key", secret: secret, encryptionMasterKeys: keys)
        return (api, authenticator)
    }

    private func authorize(
        _ user: User, _ body: Data, with authenticator: PusherAuthenticator
    ) throws -> (status: Int, body: Data) {
        let request = try PusherAuthRequest(body: body)
        guard let channel = request.channelName, user.mayJoin(channel) else { return (403, Data()) }
        let auth =
            try channel.hasPrefix("presence-")
            ? authenticator.authorizePresenceChannel(request, userID: user.id, userInfo: ["name": user.name])
            : authenticator.authorizeChannel(request)
        return (200, auth.json)
    }

    private func route(
        _ handler: PusherAuthHandler, _ user: User, _ body: Data, header: (String) -> String?
    ) async -> (PusherAuthHandler.Response, PusherAuthHandler.Response) {
        func handle(_ webhook: PusherWebhook) async throws {}
        let reply = await handler.respond(to: body) { request in
            guard let channel = request.channelName else {
                return .user(id: user.id)  // signs in
            }
            guard user.mayJoin(channel) else { return .refused }
            return channel.hasPrefix("presence-") ? .user(id: user.id, info: ["name": user.name]) : .allowed
        }
        let webhookReply = await handler.respond(toWebhook: body, header: header) { try await handle($0) }
        return (reply, webhookReply)
    }

    private func answer(
        _ body: Data, _ key: String, _ signature: String, with secret: String, _ oldSecret: String, _ api: PusherHTTPAPI,
        state: [String: Int]
    ) async throws {
        let verifier = PusherWebhookVerifier(secrets: ["app-key": secret, "old-key": oldSecret])
        let webhook = try verifier.verify(body: body, key: key, signature: signature)
        for event in webhook.events {
            switch event {
            case .memberRemoved(let channel, let userID): print("\(userID) left \(channel)")
            case .cacheMiss(let channel): try await api.trigger(channels: [channel], eventName: "state", data: state)
            default: break
            }
        }
    }

    @Test func `The publishing page's stub makes a publish fail with a lost connection`() async throws {
        let session = MockSession(delivery: .immediate)
        session.stub("POST /apps/app-id/events", .failure(.networkConnectionLost))
        let api = PusherHTTPAPI(
            appID: "app-id", key: "app-key", secret: "secret", environment: PusherEnvironment(httpSession: session))
        let error = await #expect(throws: PusherError.self) {
            try await api.trigger(channels: ["news"], eventName: "headline", data: "hi")
        }
        #expect(error?.kind == .httpAPI(.noResponse))
        #expect(session.requests.count == 1)
    }
}
