import PusherChannels

/// The latest event of each cache channel, for later subscribers.
struct ServerCache {
    private struct Entry {
        let frame: String
        let data: String
        let expiry: Instant
    }

    private var entries: [ServerMachine.ChannelKey: Entry] = [:]
    /// The number of entries at which expired ones are removed, which happens so rarely that each event costs the same.
    private var limit = 16

    /// The number of events held, including expired ones.
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

    /// Returns the HTTP API's description of a channel's cache.
    func description(
        of key: ServerMachine.ChannelKey, as form: ServerProfile.CacheDescription, at now: Instant
    ) -> JSONValue {
        guard let entry = entry(key, at: now) else { return .null }
        let left = entry.expiry - now
        // The seconds that have begun.
        let seconds = Int(left.components.seconds) + (left.components.attoseconds > 0 ? 1 : 0)
        switch form {
        case .dataAndLifetime: return .object(["data": .string(entry.data), "ttl": .integer(seconds)])
        case .messageAndLifetime: return .object(["data": .string(entry.frame), "ttl": .integer(seconds)])
        case .message: return (try? JSONValue(parsing: entry.frame)) ?? .null
        }
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

    /// Sends the messages that follow a successful subscription to a cache channel.
    mutating func sendCache(of key: ChannelKey, to id: ConnectionID, app: ServerApp) {
        if let cached = cache.frame(for: key, at: now) { return effects.append(.send(cached, to: id)) }
        let miss = ServerFrame.event("pusher:cache_miss", channel: key.name.text, data: profile.cacheMissData)
        effects.append(.send(miss, to: id))
        tellBackend(WebhookEvent(.cacheMiss, channel: key.name), of: app)
    }
}
