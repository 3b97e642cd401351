import PusherChannels

/// What a server keeps for a time. Expired values are removed so rarely that each costs the same, however many are kept.
struct ExpiringValues<Value: Sendable>: Sendable {
    private var entries: [ServerMachine.ChannelKey: (value: Value, expiry: Instant)] = [:]
    /// The number of values at which expired ones are removed.
    private var limit = 16

    /// The number of values, including expired ones.
    var count: Int { entries.count }

    mutating func keep(_ value: Value, of key: ServerMachine.ChannelKey, until expiry: Instant, at now: Instant) {
        if entries.count >= limit {
            entries = entries.filter { $0.value.expiry > now }
            limit = max(16, 2 * entries.count)
        }
        entries[key] = (value, expiry)
    }

    func entry(of key: ServerMachine.ChannelKey, at now: Instant) -> (value: Value, expiry: Instant)? {
        entries[key].flatMap { $0.expiry > now ? $0 : nil }
    }
}
