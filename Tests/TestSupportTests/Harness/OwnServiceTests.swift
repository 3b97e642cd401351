import Foundation
import TestSupport
import Testing

/// Apps under test that make their clients themselves, with their own key, cluster and endpoints.
@Suite struct OwnServiceTests {
    private static let key = "app-key"

    /// Returns an app's client, made as in the README.
    private static func client(
        _ environment: PusherEnvironment,
        authMethod: AuthMethod = .endpoint(authEndpoint: "https://api.example.com/broadcasting/auth")
    ) -> Pusher {
        let options = PusherClientOptions(
            authMethod: authMethod, userAuthMethod: .endpoint("https://api.example.com/user"), host: .cluster("eu"))
        return Pusher(key: key, options: options, environment: environment)
    }

    @Test func `An app's client with its own key, cluster, and endpoints is served without setup`() throws {
        try withTestHarness { harness in
            let pusher = Self.client(harness.pusherEnvironment())
            let channels = ["news", "private-orders", "presence-lobby"].map { pusher.subscribe($0) }
            pusher.signIn { _ in }
            pusher.connect()
            #expect(channels.map(\.subscribed) == [true, true, true])
            #expect(pusher.user.id != nil)
            #expect(harness.server.publish(channel: "private-orders", event: "placed", data: "{}") == 1)
            let told = harness.timeline.texts(of: "server")
            #expect(told.first == "takes the key app-key for that of another app, and checks no signatures of it")
            #expect(told.contains("authorizes in the place of the backend at https://api.example.com/broadcasting/auth"))
        }
    }

    /// The client gets only a status. The reason is in the body, which the client doesn't parse.
    @Test func `A refusal by the server, or in the place of the app's backend, is told in the story with its reason`() throws {
        let app = ServerApp(id: "7", key: Self.key, secret: "app-secret", deniedChannels: ["private-a"])
        try withTestHarness(apps: [app], allowing: [.pendingTimer]) { harness in
            let (served, own) = (harness.makePusher(), Self.client(harness.pusherEnvironment()))
            served.subscribe("private-a")
            served.connect()
            #expect(harness.timeline.texts(of: "server").contains("authorizes nothing: Forbidden: private-a"))
            own.subscribe("private-encrypted-orders")
            own.connect()
            let told = harness.timeline.texts(of: "server")
            #expect(told.contains { $0.hasPrefix("authorizes nothing: ") && $0.contains("no master key of 32 bytes") }, "\(told)")
            #expect(!told.contains { $0.hasPrefix("authorizes in the place") })
        }
    }

    @Test func `A client that signs with its own secret is let in if no app was named`() throws {
        try withTestHarness { harness in
            let pusher = Self.client(harness.pusherEnvironment(), authMethod: .inline(secret: "app-secret"))
            let orders = pusher.subscribe("private-orders")
            pusher.connect()
            #expect(orders.subscribed)
        }
    }

    @Test(arguments: [("123456", false), (ServerApp.local.id, false), (ServerApp.local.id, true)])
    func `A backend's publish is accepted for its key, whatever its secret and its app id, even another app's`(
        appID: String, isFirst: Bool
    ) async throws {
        try await withTestHarness { harness in
            let world = harness.pusherEnvironment()
            let pusher = Self.client(world)
            pusher.subscribe("news")
            let api = PusherHTTPAPI(appID: appID, key: Self.key, secret: "app-secret", environment: world)
            if isFirst { try await api.trigger(channels: ["news"], eventName: "placed", data: ["id": 7]) }
            pusher.connect()
            try await api.trigger(channels: ["news"], eventName: "placed", data: ["id": 7])
            #expect(harness.server.notices.last == .published(channel: "news", event: "placed", receivers: 1))
        }
    }

    @Test func `A backend's requests are signed and checked by the date that the test sets`() async throws {
        try await withTestHarness { harness in
            let world = harness.pusherEnvironment()
            let api = PusherHTTPAPI(appID: "1", key: "local-key", secret: "local-secret", environment: world)
            let date = Date(timeIntervalSince1970: 1_750_000_000)
            harness.environment.now.next = date
            try await api.trigger(channels: ["news"], eventName: "placed", data: "a")
            #expect(harness.environment.now.reads == [date], "the server's look is none")
            harness.environment.now.sequence([date, .distantFuture])
            try await api.trigger(channels: ["news"], eventName: "placed", data: "b")
            harness.environment.now.reset()
            try await api.trigger(channels: ["news"], eventName: "placed", data: "c")
            #expect(harness.server.notices.count == 3)
        }
    }

    @Test func `A socket that the test makes for an app's client is checked like the harness's own`() throws {
        let kept = Locked<Pusher?>(nil)
        let failure = try failingTest { harness in
            let socket = MockWebSocket(server: .manual, scheduler: harness.scheduler)
            let pusher = Self.client(harness.pusherEnvironment { socket })
            pusher.connect()
            socket.accept()
            kept.withLock { $0 = pusher }
        }
        #expect(failure.findings.map(\.kind) == [.leak])
        #expect(failure.findings.first?.text.contains("is open") == true)
    }

    @Test func `A socket behind a traffic recorder is checked like the harness's own`() throws {
        let failure = try failingTest(allowing: [.leak]) { harness in
            let recorder = TrafficRecorder()
            let socket = MockWebSocket(server: .manual, scheduler: harness.scheduler)
            socket.play(.establish(), .expect("pusher:subscribe news"))
            let pusher = Self.client(harness.pusherEnvironment { recorder.recording(socket) })
            pusher.connect()
            pusher.disconnect()
        }
        #expect(failure.findings.map(\.kind).contains(.unplayedStep), "\(failure)")
    }

    @Test func `A JSON body with keys that differ only in normalization is refused with 400`() {
        let body = Data("{\"\u{e9}\":\"a\",\"e\u{301}\":\"b\"}".utf8)
        let request = RecordedRequest(method: "POST", url: "http://127.0.0.1/pusher/auth", body: body)
        #expect(InMemoryServer().respond(to: request).status == 400)
    }

    @Test func `Webhooks also cover an app that is added after they were set up`() throws {
        try withTestHarness { harness in
            harness.session.stub("POST /webhooks", .ok)
            harness.server.sendWebhooks(to: "https://backend.example/webhooks")
            let pusher = Self.client(harness.pusherEnvironment())
            pusher.subscribe("news")
            pusher.connect()
            harness.scheduler.advance(by: .milliseconds(250))
            #expect(harness.session.requests.map(\.path) == ["/webhooks"])
        }
    }

    @Test func `A handler's work after the executor's run is done while the harness waits`() async throws {
        try await withTestHarness { harness in
            let signer = Signer(userID: "ann")
            let executor = harness.makeExecutor()
            let pusher = harness.makePusher { options in
                options.authMethod = .customHandler { try await signer.authorize(socketID: $0, channelName: $1) }
            }
            pusher.connect()
            try await executor.run { _ in }
            let room = pusher.subscribe("private-room")
            try await harness.eventually("the room is joined", within: .zero) { room.subscribed }
        }
    }

    @Test func `A named app's signatures are checked with its secret`() throws {
        let app = ServerApp(id: "7", key: Self.key, secret: "app-secret")
        try withTestHarness(apps: [app]) { harness in
            let world = harness.pusherEnvironment()
            let served = Self.client(world)
            let signed = Self.client(world, authMethod: .inline(secret: "app-secret"))
            let forged = Self.client(world, authMethod: .inline(secret: "another"))
            let channels = [served, signed, forged].map { $0.subscribe("private-orders") }
            for pusher in [served, signed, forged] { pusher.connect() }
            #expect(channels.map(\.subscribed) == [true, true, false])
            let own = harness.makePusher()
            own.connect()
            #expect(own.connection.key == Self.key)
            #expect(own.connection.connectionState == .connected)
        }
    }

    @Test(arguments: [
        #"{"text":"hi","socket_id":"ID"}"#, #"{"socket_id":"ID","items":[7]}"#, "socket_id=ID&text=hi",
        "channel_name=news&socket_id=ID", "socket_id=1.2&channel_name=private-a",
    ])
    func `A request with a foreign socket id, or that only mentions the client's, is not taken for an authorization`(
        body: String
    ) throws {
        let failure = try failingTest { harness in
            let pusher = Self.client(harness.pusherEnvironment())
            pusher.connect()
            let socketID = try #require(pusher.connection.socketID)
            try harness.session.ask("POST https://api.example.com/messages", body: body.replacing("ID", with: socketID))
        }
        #expect(failure.findings.map(\.kind) == [.unmatchedRequest])
    }

    @Test(arguments: [AuthEndpoint.Encoding.form, .json])
    func `Custom endpoints for channels and users are answered in form and JSON, with extra parameters`(
        encoding: AuthEndpoint.Encoding
    ) async throws {
        try await withTestHarness { harness in
            var endpoint = AuthEndpoint("https://api.example.com/auth")
            endpoint.encoding = encoding
            endpoint.parameters = { _ in ["token": "7"] }
            let options = PusherClientOptions(
                authMethod: .customEndpoint(endpoint), userAuthMethod: .customEndpoint(endpoint), host: .cluster("eu"))
            let pusher = Pusher(key: Self.key, options: options, environment: harness.pusherEnvironment())
            let channels = ["private-orders", "presence-lobby"].map { pusher.subscribe($0) }
            pusher.signIn { _ in }
            pusher.connect()
            try await harness.eventually("both are subscribed", within: .zero) { channels.allSatisfy(\.subscribed) }
            try await harness.eventually("the user is signed in", within: .zero) { pusher.user.id != nil }
        }
    }

    @Test func `A scripted connection is authorized at any endpoint`() throws {
        try withTestHarness { harness in
            let socket = MockWebSocket(server: .manual, scheduler: harness.scheduler)
            socket.play(.establish(), .expect("pusher:subscribe private-orders"))
            let pusher = Self.client(harness.pusherEnvironment { socket })
            pusher.subscribe("private-orders")
            pusher.connect()
        }
    }

    @Test func `A backend may publish to an HTTP API below a path`() async throws {
        try await withTestHarness(apps: [.local]) { harness in
            let world = harness.pusherEnvironment()
            let pusher = harness.makePusher()
            pusher.subscribe("news")
            pusher.connect()
            func api(_ secret: String) -> PusherHTTPAPI {
                PusherHTTPAPI(appID: "1", key: "local-key", secret: secret, options: .init(path: "/ws"), environment: world)
            }
            let socketID = pusher.connection.socketID
            try await api("local-secret").trigger(channels: ["news"], eventName: "placed", data: "a", excluding: socketID)
            #expect(harness.server.notices.last == .published(channel: "news", event: "placed", receivers: 0))
            await #expect(throws: PusherError.self) {
                try await api("another").trigger(channels: ["news"], eventName: "placed", data: "a")
            }
        }
    }
}
