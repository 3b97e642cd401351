import Processes
import TestSupport
import Testing

@testable import PusherChannels

@Suite(.timeLimit(.lost)) struct PusherPoolTests {
    @Test func `A pool makes its connections at its rate of attempts per second`() {
        let rig = PoolRig(connections: 4, attemptsPerSecond: 10)
        rig.pool.connect()
        for (milliseconds, connected) in [(0, 1), (200, 3), (100, 4)] {
            rig.scheduler.advance(by: .milliseconds(milliseconds))
            #expect(rig.states == (0..<4).map { $0 < connected ? ConnectionState.connected : .disconnected })
        }
    }

    @Test func `A pool disconnected while connecting makes no more connections until it is asked again`() {
        let rig = PoolRig(connections: 4)
        rig.pool.connect()
        rig.pool.disconnect()
        #expect(rig.scheduler.pendingTimers.isEmpty)
        rig.scheduler.advance(by: .seconds(10))
        #expect(rig.states == Array(repeating: .disconnected, count: 4))
        rig.pool.connect()
        rig.scheduler.advance(by: .seconds(10))
        #expect(rig.states == Array(repeating: .connected, count: 4))
    }

    /// If *n* connections are lost together, each waits for a random time, at most as long as *n* attempts take.
    @Test func `A pool's reconnect delays begin with the time that all its attempts take at its rate`() throws {
        let rig = PoolRig(connections: 40, attemptsPerSecond: 4) {
            $0.reconnectPolicy = ReconnectPolicy(initialDelay: .seconds(1))
        }
        rig.pool.connect()
        rig.scheduler.advance(by: .seconds(10))
        for connection in rig.pool.connections {
            #expect(connection.reconnectPolicy.initialDelay == .seconds(10))
            #expect(connection.reconnectPolicy.maximumDelay == .seconds(120))
        }
        rig.pool.resize(to: 2)
        #expect(rig.pool.connections.map(\.reconnectPolicy.initialDelay) == [.seconds(1), .seconds(1)])
    }

    @Test(
        arguments: [
            (0, .milliseconds(50)), (-1, .milliseconds(50)), (.nan, .milliseconds(50)), (.infinity, .milliseconds(50)),
            (-.infinity, .milliseconds(50)), (.leastNonzeroMagnitude, .seconds(1000)),
            (.greatestFiniteMagnitude, .microseconds(1)),
        ] as [(Double, Duration)])
    func `A rate of attempts is bounded, and is the default unless it is positive and finite`(rate: Double, interval: Duration) {
        #expect(ConnectRate(attemptsPerSecond: rate).interval == interval)
    }

    @Test func `Each channel of a pool is subscribed on one connection, and unsubscribed there`() {
        let rig = PoolRig.connected()
        #expect(rig.pool.channels.map(\.name) == PoolRig.names(30).sorted())
        #expect(rig.server.connections.map(\.channels.count).reduce(0, +) == 30)
        #expect(rig.isSubscribed && rig.server.connections.allSatisfy { !$0.channels.isEmpty })
        #expect(rig.pool.channel(named: "prices-7")?.subscribed == true)
        for channel in ["prices-7", "another"] {
            rig.pool.unsubscribe(channel)
            #expect(rig.server.subscribers(of: channel).isEmpty && rig.pool.channel(named: channel) == nil)
        }
    }

    @Test func `A pool with a shard subscribes only to the shard's channels`() throws {
        let shards = try (0..<3).map { try Shard($0, of: 3) }
        let pools = shards.map { PoolRig(shard: $0) }
        for rig in pools {
            rig.pool.subscribe(PoolRig.names(30))
            rig.pool.subscribe("news")
        }
        let all = pools.flatMap { $0.pool.channels.map(\.name) }
        #expect(all.sorted() == (PoolRig.names(30) + ["news"]).sorted())
        #expect(pools.map(\.pool.shard) == shards)
    }

    @Test func `A pool's delegate hears of all connections, also of those added later`() {
        let rig = PoolRig.connected(connections: 2, channelsPerConnection: 20, channels: 40)
        rig.pool.subscribe("another")
        #expect(rig.recorder.subscribedChannels.sorted() == (PoolRig.names(40) + ["another"]).sorted())
        #expect(rig.pool.delegate === rig.recorder && rig.recorder.states.count { $0 == .connected } == 3)
    }

    @Test func `A lost connection of a pool causes gaps only in its own channels`() {
        let rig = PoolRig.connected()
        let (own, all) = (rig.names(of: 1), PoolRig.names(30))
        rig.publish("1", to: all)
        rig.sockets.withLock(\.self)[1].drop()
        rig.scheduler.advance(by: .seconds(5))
        #expect(rig.gaps == own && rig.isSubscribed)
    }

    @Test func `Channels that move to an added connection report a gap, and the others notice nothing`() async throws {
        let rig = PoolRig.connected(connections: 3, channels: 30)
        let updates = rig.pool.updates
        let handle = rig.pool.channel(named: "prices-0")
        let before = Dictionary(uniqueKeysWithValues: (0..<3).flatMap { number in rig.names(of: number).map { ($0, number) } })
        rig.publish("1", to: PoolRig.names(30))
        rig.pool.resize(to: 4)
        rig.publish("2", to: PoolRig.names(30))
        let moved = rig.names(of: 3)
        #expect(!moved.isEmpty && moved.count < 20)
        for (channel, number) in before where !moved.contains(channel) { #expect(rig.names(of: number).contains(channel)) }
        #expect(rig.server.connections.map(\.channels.count).reduce(0, +) == 30, "each on one connection")
        #expect(handle?.subscribed == !moved.contains("prices-0"), "a handle of where it was")
        #expect(rig.pool.channel(named: "prices-0")?.subscribed == true)

        let words = Dictionary(
            grouping: try await updates.elements(moved.count * 4 + (30 - moved.count) * 2), by: \.channelName)
        for name in PoolRig.names(30) {
            let told = moved.contains(name) ? ["1", "gap", "subscribed", "2"] : ["1", "2"]
            #expect(words[name]?.map(\.word) == told.map { "\(name) \($0)" })
        }
    }

    @Test func `Removing a connection moves its channels, with a gap each, and closes its socket`() async throws {
        let rig = PoolRig.connected(connections: 3, channels: 30)
        let moved = rig.names(of: 2)
        rig.pool.resize(to: 2)
        #expect(rig.pool.connections.count == 2 && rig.pool.channels.count == 30)
        #expect(rig.gaps == moved && rig.isSubscribed)
        let ended = rig.sockets.withLock(\.self)[2]
        try await rig.recorder.next { _ in !ended.isOpen }
    }

    /// This happens if a server hangs, because it closes none of its connections.
    @Test func `Connections of a pool that fall silent together return spread over time`() throws {
        let seeds = Locked(SplitMix64(seed: 1))
        let rig = PoolRig(connections: 60, randomSeed: { seeds.withLock { $0.next() } })
        rig.pool.subscribe(PoolRig.names(60))
        rig.pool.connect()
        rig.scheduler.advance(by: .seconds(5))
        try #require(rig.states.allSatisfy { $0 == .connected })
        // From here on, all connections ping at the same times.
        rig.pool.subscribe(PoolRig.names(600))
        let sockets = rig.sockets.withLock { $0 }
        for socket in sockets { try socket.inject(.stall) }
        for _ in 0..<3_000 where rig.states.allSatisfy({ $0 == .connected }) { rig.scheduler.advance(by: .milliseconds(100)) }
        var returns: [Int] = []
        for _ in 0..<2 {
            returns.append(sockets.count { $0.requests.count > 1 })
            rig.scheduler.advance(by: .seconds(1))
        }
        #expect(returns[0] < 15 && returns[1] < 45, "\(returns)")
        rig.scheduler.advance(by: .seconds(10))
        #expect(sockets.allSatisfy { $0.requests.count > 1 })
    }
}
