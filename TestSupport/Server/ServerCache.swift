import PusherChannels

/// The latest event of each cache channel, for later subscribers.
struct ServerCache {
    private var events = ExpiringValues<(frame: String, data: String)>()

    /// The number of events held, including expired ones.
    var count: Int { events.count }

    mutating func keep(
        _ frame: String, data: String, for key: ServerMachine.ChannelKey, until expiry: Instant, at now: Instant
    ) {
        events.keep((frame, data), of: key, until: expiry, at: now)
    }

    func frame(for key: ServerMachine.ChannelKey, at now: Instant) -> String? {
        events.entry(of: key, at: now)?.value.frame
    }

    /// Returns the HTTP API's description of a channel's cache.
    func description(
        of key: ServerMachine.ChannelKey, as form: ServerProfile.CacheDescription, at now: Instant
    ) -> JSONValue {
        guard let (event, expiry) = events.entry(of: key, at: now) else { return .null }
        let left = expiry - now
        // The seconds that have begun.
        let seconds = Int(left.components.seconds) + (left.components.attoseconds > 0 ? 1 : 0)
        switch form {
        case .dataAndLifetime: return .object(["data": .string(event.data), "ttl": .integer(seconds)])
        case .messageAndLifetime: return .object(["data": .string(event.frame), "ttl": .integer(seconds)])
        case .message: return (try? JSONValue(parsing: event.frame)) ?? .null
        }
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
