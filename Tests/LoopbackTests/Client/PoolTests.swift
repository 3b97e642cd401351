#if os(Linux)
import Foundation
import Logging
import Processes
import PusherChannels
import TestSupport
import Testing

/// Ten thousand channels over twenty connections, with the server in another process.
@Suite struct PoolTests {
    private let names = (0..<10_000).map { "prices-\($0)" }

    /// Counts a pool's notifications.
    private final class Counter: PusherDelegate, Sendable {
        let subscribed = Progress()
        let gaps = Progress()

        func subscribedToChannel(name: String) { subscribed.add(name) }
        func eventsMayBeMissing(channelName: String, since: Date) { gaps.add(channelName) }
    }

    /// The names received so far, with a way to wait for a number of them.
    private final class Progress: Sendable {
        private let names = Locked<[String]>([])
        private let note = Note<Void>()

        func add(_ name: String) {
            names.withLock { $0.append(name) }
            note.send(())
        }

        func wait(for count: Int) async -> [String] {
            while names.withLock(\.count) < count { guard await note.next() != nil else { break } }
            return names.withLock(\.self)
        }
    }

    private struct Rig {
        let server: Command
        let proxy: NetworkFaultProxy
        let pool: PusherPool
        let counter: Counter
        let api: PusherHTTPAPI

        func names(of number: Int) -> [String] { pool.connections[number].channels.all.map(\.name) }

        func stop() async {
            await pool.shutdown()
            server.signal(SIGKILL)
            proxy.stop()
        }
    }

    private func rig() async throws -> Rig {
        let (server, port) = try await Command.server()
        let proxy = try NetworkFaultProxy.start(to: "127.0.0.1", port: port)
        let options = PusherClientOptions(
            host: .host("127.0.0.1"), port: proxy.port, useTLS: false,
            timeouts: .patient,
            reconnectPolicy: ReconnectPolicy(initialDelay: .zero), pauseLimit: .seconds(86_400),
            logger: Logger(label: "pool") { _ in SwiftLogNoOpLogHandler() }
        )
        let pool = PusherPool(
            key: "local-key", connections: 20, channelsPerConnection: 1000, attemptsPerSecond: 100, options: options)
        let counter = Counter()
        pool.delegate = counter
        pool.subscribe(names)
        pool.connect()
        #expect(Set(await counter.subscribed.wait(for: 10_000)) == Set(names))
        let api = PusherHTTPAPI(
            appID: "1", key: "local-key", secret: "local-secret", host: .host("127.0.0.1"), port: port, useTLS: false,
            options: .patient)
        return Rig(server: server, proxy: proxy, pool: pool, counter: counter, api: api)
    }

    @Test func `A lost, slow, or additional connection of a pool concerns only its own share of the channels`() async throws {
        try await withWatchdog {
            let rig = try await rig()
            let lost = try await lostChannels(rig)
            // They are subscribed again.
            _ = await rig.counter.subscribed.wait(for: 10_000 + lost)
            try await readSlowly(rig)

            rig.pool.resize(to: 21)
            let moved = rig.names(of: 20)
            #expect((1...10_000 / 21 * 12 / 10).contains(moved.count), "\(moved.count)")
            let gaps = await rig.counter.gaps.wait(for: lost + moved.count)
            #expect(gaps.dropFirst(lost).sorted() == moved)
            #expect(rig.pool.channels.count == 10_000)
            await rig.stop()
        }
    }

    /// Resets a connection, whose channels all have a gap, and no others; returns their number.
    private func lostChannels(_ rig: Rig) async throws -> Int {
        let loads = (0..<20).map { rig.names(of: $0) }
        try rig.proxy.inject(.reset(after: .bytes(0)), onConnection: 8)
        let fewest = try #require(loads.map(\.count).min())
        _ = await rig.counter.subscribed.wait(for: 10_000 + fewest)
        let first = await rig.counter.gaps.wait(for: 1)[0]
        let own = loads.first { $0.contains(first) } ?? []
        let gaps = await rig.counter.gaps.wait(for: own.count)
        #expect(gaps.sorted() == own.sorted())
        return own.count
    }

    /// Reads the events of one channel only after those of all other connections have arrived; none is lost.
    private func readSlowly(_ rig: Rig) async throws {
        let slow = rig.names(of: 3)[0]
        let events = try #require(rig.pool.channel(named: slow)).events(named: "price", buffering: StreamBuffering(limit: 5))
        for start in stride(from: 0, to: 200, by: 10) {
            try await rig.api.triggerBatch(
                (start..<start + 10).map { PusherBatchEvent(channel: slow, eventName: "price", data: "\($0)") })
        }
        let heard = Progress()
        for number in 0..<20 where number != 3 {
            let name = rig.names(of: number)[0]
            rig.pool.channel(named: name)?.bind(eventName: "price") { _ in heard.add(name) }
            try await rig.api.trigger(channels: [name], eventName: "price", data: "1")
        }
        #expect(await heard.wait(for: 19).count == 19)
        var iterator = events.makeAsyncIterator()
        for number in 0..<200 { #expect(try await iterator.next()?.data == "\(number)") }
    }
}
#endif
