import PusherChannels
import TestSupport
import Testing

/// The client with every server that can be imitated. Every request ends in success or in a typed error, never in silence.
struct ServerProfileTests {
    private let scheduler = TestScheduler()

    private func server(_ server: ServerCase) -> InMemoryServer {
        InMemoryServer(ServerMachine(profile: server.profile), scheduler: scheduler)
    }

    private func client(
        of server: InMemoryServer, as userID: String = "ann", secret: String? = nil, limits: ProtocolLimits = .hosted
    ) -> ServedClient {
        ServedClient(of: server, at: scheduler, as: userID, secret: secret, limits: limits)
    }

    @Test(arguments: ServerCase.all)
    func `A client subscribes to every kind of channel on each server and receives its events`(_ profile: ServerCase) {
        let server = server(profile)
        let client = client(of: server)
        let channels = [
            "news", "private-a", "presence-a", "private-encrypted-a", "cache-a", "private-cache-a", "presence-cache-a",
            "private-encrypted-cache-a",
        ].filter { $0 != "presence-cache-a" || profile.profile.answers[.presenceCache] == nil }
        for channel in channels {
            #expect(client.pusher.subscribe(channel).subscribed, "\(channel)")
            server.publish(channel: channel, event: "price", data: "{\"of\":\"\(channel)\"}")
            #expect(client.events("price").last == "{\"of\":\"\(channel)\"}")
        }
        #expect(client.events("price").count == channels.count)
        #expect(client.recorder.subscribedChannels == channels)
        #expect(client.recorder.errors.isEmpty)
    }

    @Test(arguments: ServerCase.all.filter { $0.profile.cacheChannels != .none })
    func `A later subscriber of a cache channel gets its latest event instead of a cache miss`(_ profile: ServerCase) {
        let server = server(profile)
        let first = client(of: server)
        first.pusher.subscribe("cache-a")
        #expect(first.events("pusher:cache_miss").count == 1)
        server.publish(channel: "cache-a", event: "price", data: "1")
        let second = client(of: server)
        second.pusher.subscribe("cache-a")
        #expect(second.events("price") == ["1"])
        #expect(second.events("pusher:cache_miss").isEmpty)
    }

    /// The endpoint signs with another secret, so each server refuses in its own way, some without naming the channel.
    @Test(arguments: ServerCase.all, ["private-a", "presence-a", "private-encrypted-a"])
    func `A subscription that the server refuses fails at once, and the connection stays open`(
        _ profile: ServerCase, channel: String
    ) throws {
        let client = client(of: server(profile), secret: "another")
        let subscribed = client.pusher.subscribe(channel)
        let error = try #require(client.outcome(of: channel), "at once, without waiting for a time-out")
        #expect(error.kind == .subscriptionRefused)
        #expect(!subscribed.subscribed)
        #expect(client.pusher.connection.connectionState == .connected)
    }

    /// This works even if the server names no channel, because as many refusals as subscriptions leave no doubt.
    @Test(arguments: ServerCase.all)
    func `Several subscriptions that the server refuses together all fail at once`(_ profile: ServerCase) {
        let server = server(profile)
        let client = client(of: server, secret: "another")
        client.pusher.disconnect()
        let channels = ["private-a", "presence-b", "private-c"]
        for channel in channels { client.pusher.subscribe(channel) }
        client.pusher.connect()
        for channel in channels { #expect(client.outcome(of: channel)?.kind == .subscriptionRefused, "at once") }
    }

    /// Some servers count only the client's messages as activity.
    @Test(arguments: ServerCase.all)
    func `A client that only listens stays connected`(_ profile: ServerCase) {
        let server = server(profile)
        let client = client(of: server)
        client.pusher.subscribe("news")
        for number in 0..<400 {
            server.publish(channel: "news", event: "tick", data: "\(number)")
            scheduler.advance(by: .seconds(1))
        }
        #expect(client.events("tick").count == 400)
        #expect(client.recorder.states == [.connecting, .connected])
    }

    private static let tellingOfKeys = ServerCase.all.filter { server in
        switch server.profile.answers[.unknownKey] {
        case .success, .end, .response: false
        default: true
        }
    }

    /// If the server doesn't close the connection, the client's own time-out does; the client doesn't try forever.
    @Test(arguments: tellingOfKeys)
    func `A client whose key is unknown is refused with 4001 and gives up`(_ profile: ServerCase) throws {
        let server = InMemoryServer(ServerMachine(apps: [], profile: profile.profile), scheduler: scheduler)
        let client = client(of: server)
        #expect(try #require(client.recorder.errors.first).code == 4001)
        scheduler.advance(by: .seconds(15))
        #expect(client.pusher.connection.connectionState == .disconnected)
    }

    @Test(arguments: ServerCase.all.filter { $0.profile.answers[.invalidName] != .success })
    func `A channel whose name only the server refuses fails to be subscribed`(_ profile: ServerCase) {
        let client = client(of: server(profile), limits: .unchecked)
        client.pusher.subscribe("not a name")
        scheduler.advance(by: .seconds(31))
        #expect(client.outcome(of: "not a name") != nil)
    }

    @Test(arguments: ServerCase.all)
    func `Members see each other come and go, and get each other's client events`(_ profile: ServerCase) throws {
        let server = server(profile)
        let (ann, bob) = (client(of: server, as: "ann"), client(of: server, as: "bob"))
        let room = try #require(ann.pusher.subscribe("presence-room") as? PusherPresenceChannel)
        #expect(room.members.map(\.userID) == ["ann"])
        #expect(room.myID == "ann")
        let other = try #require(bob.pusher.subscribe("presence-room") as? PusherPresenceChannel)
        #expect(Set(other.members.map(\.userID)) == ["ann", "bob"])
        #expect(Set(room.members.map(\.userID)) == ["ann", "bob"])
        #expect(ann.events("pusher:member_added").count == 1, "nobody is told of themselves, whatever the server says")

        #expect(room.trigger(eventName: "client-hi", data: ["x": 1]) == .sent)
        #expect(bob.events("client-hi") == [#"{"x":1}"#])
        #expect(ann.events("client-hi").isEmpty)

        bob.pusher.unsubscribe("presence-room")
        #expect(room.count == 1)
        #expect(ann.events("pusher:member_removed").count == 1)
    }

    /// If the server doesn't support sign-in, the error may come late, but it comes.
    @Test(arguments: ServerCase.all)
    func `A user signs in and gets events, or gets an error from a server without sign-in`(_ profile: ServerCase) throws {
        let server = server(profile)
        let client = client(of: server)
        client.pusher.signIn { _ in }
        guard profile.profile.supportsSignIn else {
            scheduler.advance(by: .seconds(31))
            let error = try #require(client.recorder.errors.last)
            #expect([.server, .timedOut].contains(error.kind))
            return #expect(client.pusher.user.id == nil)
        }
        #expect(client.recorder.notifications.contains(.signedIn(userID: "ann")))
        #expect(client.pusher.user.id == "ann")
        let heard = Locked<[String?]>([])
        client.pusher.user.bind(eventName: "hello") { event in heard.withLock { $0.append(event.data) } }
        server.publish(channel: "#server-to-user-ann", event: "hello", data: "1")
        #expect(heard.withLock { $0 } == ["1"])
    }

    @Test(arguments: ServerCase.all)
    func `A sign-in with a wrong signature fails`(_ profile: ServerCase) throws {
        let client = client(of: server(profile), secret: "another")
        client.pusher.signIn { _ in }
        scheduler.advance(by: .seconds(31))
        let failed = client.recorder.notifications.contains { if case .failedToSignIn = $0 { true } else { false } }
        #expect(failed)
        #expect(client.pusher.user.id == nil)
    }
}
