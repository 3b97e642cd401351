import Foundation
import PusherChannels
import TestSupport
import Testing

/// The snippets of "Publishing and webhooks", word for word; `ci/checks/snippets` compares them.
@Suite struct PublishingPageTests {
    private struct Order: Encodable { let id: Int }

    private struct User {
        let id: String
        let name: String

        func mayJoin(_ channel: String) -> Bool { channel == "presence-floor" || channel == "private-floor" }
    }

    private actor Outbox {
        private(set) var kept: [(order: Order, mayBePublished: Bool)] = []

        func keep(_ order: Order, mayBePublished: Bool) throws { kept.append((order, mayBePublished)) }
    }

    private let rig = APIRig()

    @Test func `The publishing page's event returns the subscription counts of its channels`() async throws {
        let (api, price, socketID) = (rig.api, ["a": 1], "1.2")
        rig.respond(200, #"{"channels":{"prices":{"subscription_count":2},"presence-floor":{"subscription_count":3}}}"#)
        let told = try await api.trigger(
            channels: ["prices", "presence-floor"], eventName: "price", data: price, excluding: socketID,
            info: [.subscriptionCount])
        let listeners = told.compactMap(\.subscriptionCount).reduce(0, +)
        #expect(listeners == 5)
    }

    @Test func `The publishing page's batch is sent as one request`() async throws {
        let (api, price, order) = (rig.api, ["a": 1], Order(id: 7))
        rig.respond()
        try await api.triggerBatch([
            PusherBatchEvent(channel: "prices", eventName: "price", data: price),
            PusherBatchEvent(channel: "private-orders", eventName: "placed", data: order),
        ])
        #expect(rig.session.requests.map(\.path) == ["/apps/3/batch_events"])
    }

    @Test func `The API that the publishing page makes for a local server uses the server's app and key`() {
        let api = PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: 6001, useTLS: false)
        #expect("\(api)" == "PusherHTTPAPI(app 1, key local-key)")
    }

    @Test func `The publishing page's outbox keeps an event that may have been published`() async throws {
        let (api, order, outbox) = (rig.api, Order(id: 7), Outbox())
        rig.fail(.timedOut)
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
        #expect(await outbox.kept.map(\.mayBePublished) == [true])
    }

    @Test func `The publishing page's API and authenticator can be made with a new and an old key`() async throws {
        let (newKey, oldKey, secret) = (Data(repeating: 7, count: 32).base64EncodedString(), APIRig.masterKey, "secret")
        let keys = [try EncryptionMasterKey(base64: newKey), try EncryptionMasterKey(base64: oldKey)]
        let api = PusherHTTPAPI(
            appID: "app-id", key: "app-key", secret: secret, host: .cluster("eu"),
            options: PusherHTTPAPIOptions(encryptionMasterKeys: keys))
        let authenticator = PusherAuthenticator(key: "app-key", secret: secret, encryptionMasterKeys: keys)
        _ = (api, authenticator)
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

    @Test func `The publishing page's routes sign an allowed channel and refuse an unsigned webhook`() async {
        let handler = PusherAuthHandler(
            authenticator: PusherAuthenticator(key: "k", secret: "s"), verifier: PusherWebhookVerifier(secrets: ["k": "s"]))
        let body = Data("socket_id=1.2&channel_name=presence-floor".utf8)
        let (reply, webhookReply) = await route(handler, User(id: "1", name: "Ann"), body) { _ in nil }
        #expect((reply.status, webhookReply.status) == (200, 401))
    }

    @Test func `The publishing page's authorization signs allowed channels and answers 403 to others`() throws {
        let (ann, authenticator) = (User(id: "1", name: "Ann"), PusherAuthenticator(key: "k", secret: "s"))
        func status(_ body: String) throws -> Int { try authorize(ann, Data(body.utf8), with: authenticator).status }
        #expect(try status("socket_id=1.2&channel_name=presence-floor") == 200)
        #expect(try status("socket_id=1.2&channel_name=private-floor") == 200)
        #expect(try status("socket_id=1.2&channel_name=presence-board") == 403)
    }

    @Test func `The publishing page's webhook handler publishes the state after a cache miss`() async throws {
        let (api, secret, oldSecret, state) = (rig.api, "s3cret", "0ld", ["a": 1])
        rig.respond()
        let time = Int(Date().timeIntervalSince1970) * 1000
        let text = #"{"time_ms":\#(time),"events":[{"name":"cache_miss","channel":"cache-a"}]}"#
        let (body, key, signature) = (Data(text.utf8), "app-key", hmacSHA256(text, key: secret))
        let verifier = PusherWebhookVerifier(secrets: ["app-key": secret, "old-key": oldSecret])
        let webhook = try verifier.verify(body: body, key: key, signature: signature)
        for event in webhook.events {
            switch event {
            case .memberRemoved(let channel, let userID): print("\(userID) left \(channel)")
            case .cacheMiss(let channel): try await api.trigger(channels: [channel], eventName: "state", data: state)
            default: break
            }
        }
        #expect(rig.bodies == [#"{"channels":["cache-a"],"data":"{\"a\":1}","name":"state"}"#])
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
