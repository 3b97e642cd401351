import Dispatch
import Foundation
import PusherChannels
import TestSupport
import Testing

/// The README's snippets, word for word; `ci/checks/snippets` compares them.
@Suite struct ReadmeTests {
    /// Compiled only: it would call a server.
    func use() {
        let pusher = Pusher(
            key: "app-key",
            options: PusherClientOptions(
                authMethod: .endpoint(authEndpoint: "https://example.com/pusher/auth"), host: .cluster("eu")))
        pusher.connect()
        let orders = pusher.subscribe("private-orders")
        orders.bind(eventName: "placed") { event in print(event.data ?? "") }
        orders.trigger(eventName: "client-seen", data: ["by": "ann"])
        let lobby = pusher.subscribe("presence-lobby", onMemberAdded: { print("\($0.userId) came") })
        _ = lobby
    }

    /// Compiled only: it would never end.
    func useLocalServer() {
        let pusher = Pusher(
            key: "local-key",
            options: PusherClientOptions(
                authMethod: .endpoint(authEndpoint: "http://127.0.0.1:6001/pusher/auth"), host: .host("127.0.0.1"), port: 6001,
                useTLS: false))
        let orders = pusher.subscribe("private-orders")
        orders.bind(eventName: "placed") { event in print(event.data ?? "") }
        pusher.connect()
        dispatchMain()  // a program that ends after its last line hears nothing
    }

    func follow(_ pusher: Pusher) async throws {
        let prices = pusher.subscribe("prices").events(named: "price", as: Double.self)
        async let connection: Void = pusher.run()  // until the task is cancelled, or shutdown(within:) is called
        for try await price in prices { print(try price.get()) }
        try await connection
    }

    func keepOrders(_ pusher: Pusher) async throws {
        let updates = pusher.subscribe("private-orders").updates
        async let connection: Void = pusher.run()
        for try await update in updates {
            switch update {
            case .subscribed: print("orders come in from here on")
            case .event(let event): try await handle(event)
            case .eventsMayBeMissing(let gap): try await fetchOrders(since: gap.since)
            default: break
            }
        }
        try await connection
    }

    private func handle(_ event: PusherEvent) async throws {}

    private func fetchOrders(since date: Date) async throws {}

    func publish(_ secret: String) async throws {
        let api = PusherHTTPAPI(appID: "app-id", key: "app-key", secret: secret, host: .cluster("eu"))
        try await api.trigger(channels: ["news", "private-orders"], eventName: "placed", data: ["id": 7])
        try await api.sendToUser("ann", eventName: "paid", data: "thanks")
        let crowded = try await api.channels(withPrefix: "presence-", info: [.userCount]).filter { ($0.userCount ?? 0) > 50 }
        _ = crowded
    }

    private struct User {
        func mayJoin(_ channelName: String?) -> Bool { false }
    }

    private func authorize(_ user: User, _ body: [UInt8], _ secret: String) throws -> (status: Int, body: Data) {
        let authenticator = PusherAuthenticator(key: "app-key", secret: secret)
        let request = try PusherAuthRequest(body: body)
        guard user.mayJoin(request.channelName) else { return (403, Data()) }
        return (200, try authenticator.authorizeChannel(request).json)  // authorizePresenceChannel where members are known
    }

    func readWebhook(_ body: [UInt8], _ key: String?, _ signature: String?, _ secret: String) throws {
        let webhooks = PusherWebhookVerifier(secrets: ["app-key": secret])
        let webhook = try webhooks.verify(body: body, key: key, signature: signature)  // X-Pusher-Key, X-Pusher-Signature
        for case .channelVacated(let channel) in webhook.events { print("\(channel) is empty") }
    }

    @Test func theClientComesBack() throws {
        try withTestHarness { harness in
            let pusher = harness.makePusher()
            let news = pusher.subscribe("private-news")
            pusher.connect()
            harness.server.shutdown()
            harness.scheduler.advance(by: .seconds(5))
            #expect(news.subscribed)
        }
    }

    @Test func membersSeeEachOther() throws {
        try withTestHarness(profile: .reverb) { harness in
            let (ann, bob) = (harness.makePusher(), harness.makePusher())
            for pusher in [ann, bob] { pusher.connect() }
            ann.subscribe("presence-lobby")
            let lobby = bob.subscribeToPresenceChannel(channelName: "presence-lobby")
            #expect(lobby.count == 2)
        }
    }
}
