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

    func follow(_ pusher: Pusher) async throws {
        let prices = pusher.subscribe("prices").events(named: "price")
        async let connection: Void = pusher.run()  // until the task is cancelled, or shutdown(within:) is called
        for await event in prices {
            let price = try event.decode(Double.self)
            print(price)
        }
        try await connection
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
