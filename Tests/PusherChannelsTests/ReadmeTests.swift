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

    @Test func theClientComesBack() {
        let (socket, time) = (MockWebSocket(), TestScheduler())
        let pusher = Pusher(
            key: "key", options: PusherClientOptions(delivery: .immediate),
            environment: PusherEnvironment(scheduler: time, makeWebSocket: { socket }))
        let news = pusher.subscribe("news")
        pusher.connect()
        #expect(news.subscribed)
        socket.drop()
        #expect(!news.subscribed)
        time.advance(by: .seconds(2))
        #expect(news.subscribed)
    }

    @Test func membersSeeEachOther() {
        let server = InMemoryServer(ServerMachine(profile: .reverb))
        let (ann, bob) = (client(of: server), client(of: server))
        ann.subscribe("presence-lobby")
        let lobby = bob.subscribeToPresenceChannel(channelName: "presence-lobby")
        #expect(lobby.count == 2)
    }

    func client(of server: InMemoryServer) -> Pusher {
        let pusher = Pusher(
            key: "local-key",
            options: PusherClientOptions(
                authMethod: .endpoint(authEndpoint: "http://server/pusher/auth"), delivery: .immediate),
            environment: PusherEnvironment(
                httpSession: MockSession(server: server, delivery: .immediate), makeWebSocket: { server.makeWebSocket() }))
        pusher.connect()
        return pusher
    }
}
