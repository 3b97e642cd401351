import TestSupport

@testable import PusherChannels

/// A pool connected to a server in memory, in virtual time, with immediate delivery.
struct PoolRig {
    let scheduler = TestScheduler()
    let server = InMemoryServer()
    let sockets = Locked<[MockWebSocket]>([])
    let pool: PusherPool
    let recorder = RecordingDelegate()

    init(
        connections: Int = 3, channelsPerConnection: Int = 100, attemptsPerSecond: Double = 20, shard: Shard = .whole,
        _ change: (inout PusherClientOptions) -> Void = { _ in }, randomSeed: @escaping @Sendable () -> UInt64 = { 1 }
    ) {
        var options = PusherClientOptions(authMethod: .inline(secret: "local-secret"), delivery: .immediate)
        change(&options)
        let (server, sockets) = (server, sockets)
        pool = PusherPool(
            key: "local-key", connections: connections, channelsPerConnection: channelsPerConnection,
            attemptsPerSecond: attemptsPerSecond, shard: shard, options: options,
            environment: PusherEnvironment(
                scheduler: scheduler,
                makeWebSocket: {
                    let socket = server.makeWebSocket()
                    sockets.withLock { $0.append(socket) }
                    return socket
                }, randomSeed: randomSeed))
        pool.delegate = recorder
    }

    static func connected(
        connections: Int = 3, channelsPerConnection: Int = 100, channels: Int = 30,
        _ change: (inout PusherClientOptions) -> Void = { _ in }
    ) -> PoolRig {
        let rig = PoolRig(connections: connections, channelsPerConnection: channelsPerConnection, change)
        rig.pool.subscribe(names(channels))
        rig.pool.connect()
        rig.scheduler.advance(by: .seconds(1))
        return rig
    }

    static func names(_ count: Int) -> [String] { (0..<count).map { "prices-\($0)" } }

    /// Returns the names of the channels of one connection.
    func names(of number: Int) -> [String] { pool.connections[number].channels.all.map(\.name) }

    var states: [ConnectionState] { pool.connections.map(\.connectionState) }
    var isReading: [Bool] { sockets.withLock(\.self).map(\.isReading) }

    var gaps: [String] {
        recorder.notifications.compactMap { if case .gap(let channel, _) = $0 { channel } else { nil } }.sorted()
    }

    var isSubscribed: Bool { pool.channels.allSatisfy { $0.subscribed } }

    func publish(_ data: String, to channels: [String]) {
        for channel in channels { server.publish(channel: channel, event: "price", data: data) }
    }
}

extension PoolUpdate {
    var word: String {
        switch update {
        case .event(let event): "\(channelName) \(event.data ?? "")"
        case .eventsMayBeMissing: "\(channelName) gap"
        default: "\(channelName) \(update.word)"
        }
    }
}
