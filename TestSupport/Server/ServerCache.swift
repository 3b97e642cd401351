import PusherChannels

/// The latest event of each cache channel, for those who subscribe later.
struct ServerCache {
    private struct Entry {
        let frame: String
        let data: String
        let expiry: Instant
    }

    private var entries: [ServerMachine.ChannelKey: Entry] = [:]
    /// With so many, those that are over are let go: so seldom that each event costs the same.
    private var limit = 16

    /// The number of events that are held, those among them that are over.
    var count: Int { entries.count }

    mutating func keep(
        _ frame: String, data: String, for key: ServerMachine.ChannelKey, until expiry: Instant, at now: Instant
    ) {
        if entries.count >= limit {
            entries = entries.filter { $0.value.expiry > now }
            limit = max(16, 2 * entries.count)
        }
        entries[key] = Entry(frame: frame, data: data, expiry: expiry)
    }

    func frame(for key: ServerMachine.ChannelKey, at now: Instant) -> String? {
        entry(key, at: now)?.frame
    }

    /// Returns the HTTP API's description of a channel's cache: the data and the seconds it has left.
    func description(of key: ServerMachine.ChannelKey, at now: Instant) -> JSONValue {
        guard let entry = entry(key, at: now) else { return .null }
        let left = Int((entry.expiry - now).components.seconds)
        return .object(["data": .string(entry.data), "ttl": .integer(left)])
    }

    private func entry(_ key: ServerMachine.ChannelKey, at now: Instant) -> Entry? {
        entries[key].flatMap { $0.expiry > now ? $0 : nil }
    }
}

extension ServerMachine {
    func caches(_ channel: ChannelName) -> Bool {
        guard channel.isCache else { return false }
        return switch profile.cacheChannels {
        case .all: true
        case .allButEncrypted: channel.kind != .encrypted
        case .onlyPublic: channel.kind == .public
        case .none: false
        }
    }

    /// Sends what follows the success of a subscription to a cache channel.
    mutating func sendCache(of key: ChannelKey, to id: ConnectionID, app: ServerApp, into effects: inout [Effect]) {
        if let cached = cache.frame(for: key, at: now) { return effects.append(.send(cached, to: id)) }
        let miss = ServerFrame.event("pusher:cache_miss", channel: key.name, data: profile.cacheMissData)
        effects.append(.send(miss, to: id))
        tellBackend(WebhookEvent(.cacheMiss, channel: key.name), of: app, into: &effects)
    }
}
