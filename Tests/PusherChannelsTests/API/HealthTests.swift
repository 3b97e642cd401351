import Foundation
import TestSupport
import Testing

@testable import PusherChannels

/// What a service's readiness route and its alarms look at.
@Suite(.timeLimit(.lost)) struct HealthTests {
    @Test func `A client's health counts its channels and is ready only if all of them are subscribed`() throws {
        let rig = ClientRig(auth: .endpoint(authEndpoint: "https://example.com/auth"))
        #expect(!rig.pusher.health.isReady, "nobody has connected it")
        rig.session.stub("POST https://example.com/auth", .http(403))
        rig.pusher.subscribe("news")
        rig.scheduler.advance(by: .seconds(3))
        let waiting = rig.pusher.health
        #expect((waiting.connected, waiting.connections, waiting.channels, waiting.subscribed) == (0, 1, 1, 0))
        #expect(waiting.oldestPending == "news" && waiting.lastMessage == nil)
        #expect(abs(try #require(waiting.pendingSince).timeIntervalSinceNow + 3) < 1)

        rig.pusher.connect()
        #expect(rig.pusher.health.isReady)
        #expect(rig.pusher.health.oldestPending == nil && rig.pusher.health.lastMessage != nil)
        rig.pusher.subscribe("private-orders")
        #expect((rig.pusher.health.channels, rig.pusher.health.subscribed, rig.pusher.health.failed) == (2, 1, 1))
        #expect(!rig.pusher.health.isReady)
        rig.pusher.unsubscribe("private-orders")
        #expect(rig.pusher.health.isReady && rig.pusher.health.channels == 1)

        rig.scheduler.advance(by: .seconds(20))
        rig.socket.drop()
        #expect(rig.pusher.health.connected == 0 && rig.pusher.health.oldestPending == "news")
        #expect(abs(try #require(rig.pusher.health.pendingSince).timeIntervalSinceNow + 20) < 1, "since its last message")
    }

    @Test func `The signed-in user's own channel doesn't count in a client's health`() {
        let rig = ClientRig.unanswered { $0.userAuthMethod = .inline(secret: "s", userData: #"{"id":"ann"}"#) }
        rig.pusher.signIn { _ in }
        rig.socket.serverSends(#"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"ann\"}"}}"#)
        rig.scheduler.advance(by: .seconds(3))
        #expect(rig.pusher.user.id == "ann" && rig.pusher.health.isReady)
        #expect((rig.pusher.health.channels, rig.pusher.health.oldestPending) == (0, nil))
    }

    @Test func `A clock that asks the client for its state doesn't hold its health up`() {
        let asked = Locked<Pusher?>(nil)
        let states = Locked<[ConnectionState]>([])
        let (scheduler, socket) = (TestScheduler(), MockWebSocket())
        let environment = PusherEnvironment(
            scheduler: scheduler, makeWebSocket: { socket },
            wallClock: {
                if let pusher = asked.withLock(\.self) {
                    let state = pusher.connection.connectionState
                    states.withLock { $0.append(state) }
                }
                return Date()
            })
        let pusher = Pusher(key: "key", options: PusherClientOptions(delivery: .immediate), environment: environment)
        pusher.connect()
        asked.withLock { $0 = pusher }
        #expect(pusher.health.lastMessage != nil)
        #expect(states.withLock(\.self) == [.connected])
        asked.withLock { $0 = nil }
    }

    @Test func `A client's health is behind and not ready while a stream is full`() {
        let rig = ClientRig.connected()
        let updates = rig.pusher.subscribe("news").updates(buffering: StreamBuffering(limit: 2))
        rig.publish(0..<3)
        #expect(rig.pusher.health.isBehind && !rig.pusher.health.isReady)
        withExtendedLifetime(updates) {}
    }

    @Test func `A stream of a client's health begins with the current value and then yields only changes`() async throws {
        let rig = ClientRig.connected()
        let health = rig.pusher.health(every: .seconds(1))
        var iterator = health.makeAsyncIterator()
        #expect(await iterator.next()?.channels == 0)
        let next = Task { await health.first { _ in true } }
        await rig.scheduler.waitForTimer(labeled: "health")
        rig.publish(0..<3)
        rig.scheduler.advance(by: .seconds(1))
        // The events alone are no change.
        await rig.scheduler.waitForTimer(labeled: "health")
        rig.pusher.subscribe("news")
        rig.scheduler.advance(by: .seconds(1))
        #expect(await next.value?.subscribed == 1)
        await rig.pusher.shutdown()
        let end = Task { await health.first { _ in true } }
        await rig.scheduler.waitForTimer(labeled: "health")
        rig.scheduler.advance(by: .seconds(1))
        #expect(await end.value == nil)
    }

    @Test func `A pool's health adds up the health of its connections`() throws {
        let rig = PoolRig.connected()
        let ready = rig.pool.health
        #expect((ready.connections, ready.connected, ready.channels, ready.subscribed) == (3, 3, 30, 30) && ready.isReady)
        rig.sockets.withLock { $0[1] }.drop()
        let health = rig.pool.health
        #expect((health.connected, health.subscribed) == (2, 30 - rig.names(of: 1).count))
        #expect(rig.names(of: 1).contains(try #require(health.oldestPending)))
        #expect(!health.isReady && health.lastMessage != nil)
    }
}
