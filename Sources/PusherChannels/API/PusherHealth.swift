import Foundation

/// What a client, or a ``PusherPool``, is doing, for a service's readiness route and its alarms.
public struct PusherHealth: Equatable, Sendable {
    /// The number of connections: 1 for a client.
    public internal(set) var connections = 0
    /// The number of those that are connected.
    public internal(set) var connected = 0
    /// The number of channels that the application wants.
    public internal(set) var channels = 0
    /// The number of those that the server has confirmed.
    public internal(set) var subscribed = 0
    /// The number of those that were refused, and aren't retried on this connection.
    public internal(set) var failed = 0
    /// The channel that has waited longest for its subscription; nil if none waits.
    public internal(set) var oldestPending: String?
    /// The time since which that channel has waited.
    public internal(set) var pendingSince: Date?
    /// The time at which the server's latest message came; nil without a connection.
    public internal(set) var lastMessage: Date?
    /// Indicates whether the client isn't reading from the server, because a reader or a closure is too slow.
    public internal(set) var isBehind = false

    /// Indicates whether everything is connected, subscribed and being read.
    public var isReady: Bool { connected == connections && subscribed == channels && !isBehind }

    init() {}

    init(_ machine: ConnectionMachine, date: (Instant) -> Date) {
        let counts = machine.subscriptions.counts
        (connections, connected) = (1, machine.state == .connected ? 1 : 0)
        (channels, subscribed, failed) = (counts.subscribed + counts.pending + counts.failed, counts.subscribed, counts.failed)
        if counts.pending > 0 {
            let waiting = machine.subscriptions.all.lazy.filter { !$0.channel.isOfUser }.compactMap { channel in
                channel.pendingSince.map { (channel.channel, $0) }
            }
            let oldest = waiting.min { $0.1 < $1.1 }
            (oldestPending, pendingSince) = (oldest?.0.text, oldest.map { date($0.1) })
        }
        lastMessage = machine.session.receivedUpTo.map(date)
        isBehind = machine.isReadingPaused
    }

    fileprivate var withoutTimes: PusherHealth {
        var health = self
        (health.pendingSince, health.lastMessage) = (nil, nil)
        return health
    }

    /// Adds another connection's health.
    mutating func add(_ other: PusherHealth) {
        connections += other.connections
        connected += other.connected
        channels += other.channels
        subscribed += other.subscribed
        failed += other.failed
        if let since = other.pendingSince, since < pendingSince ?? .distantFuture {
            (oldestPending, pendingSince) = (other.oldestPending, since)
        }
        lastMessage = [lastMessage, other.lastMessage].compactMap(\.self).max()
        isBehind = isBehind || other.isBehind
    }
}

extension Pusher {
    /// The client's health at this moment.
    public var health: PusherHealth { connection.health }

    /// Returns the client's health, and then each change of it but for its times, looked for at this interval. The stream ends when
    /// the client is shut down or released.
    public func health(every interval: Duration) -> AsyncStream<PusherHealth> {
        let scheduler = connection.environment.scheduler
        let last = Locked<PusherHealth?>(nil)
        return AsyncStream { [weak connection] in
            while true {
                if last.withLock({ $0 != nil }) {
                    do { try await scheduler.sleep(for: max(interval, .milliseconds(1)), label: "health") } catch { return nil }
                }
                guard let connection, !connection.core.read(\.isShutDown) else { return nil }
                let health = connection.health
                let isNew = last.withLock { last in
                    defer { last = health }
                    return last?.withoutTimes != health.withoutTimes
                }
                if isNew { return health }
            }
        }
    }
}

extension PusherConnection {
    var health: PusherHealth {
        // Before the lock is taken: the application's clocks may do anything.
        let (wallClock, now) = (core.environment.wallClock(), core.environment.scheduler.now)
        return core.read { machine in PusherHealth(machine) { wallClock.addingTimeInterval(($0 - now) / .seconds(1)) } }
    }
}
