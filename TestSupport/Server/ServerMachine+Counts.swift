import PusherChannels

/// Counts of a channel's subscribers, for apps that announce them to clients.
extension ServerMachine {
    /// The largest number of subscribers for which each change is announced at once; with more, only every few seconds.
    private static let promptCount = 100
    private static let countInterval: Duration = .seconds(5)

    mutating func announceCount(of key: ChannelKey, app: ServerApp) {
        guard app.countsSubscriptions, ChannelName(key.name).kind != .presence, let channel = channels[key] else { return }
        guard channel.subscribers.count > Self.promptCount else { return sendCount(of: key) }
        guard countsDue[key] == nil else { return }
        countsDue[key] = now + Self.countInterval
        needsTime(by: now + Self.countInterval)
    }

    mutating func sendDueCounts() {
        for key in countsDue.filter({ $0.value <= now }).keys.sorted(by: { ($0.appKey, $0.name) < ($1.appKey, $1.name) }) {
            sendCount(of: key)
        }
    }

    private mutating func sendCount(of key: ChannelKey) {
        countsDue[key] = nil
        guard let subscribers = channels[key]?.subscribers else { return }
        let data = JSONValue.object(["subscription_count": .integer(subscribers.count)]).text
        let frame = ServerFrame.event("pusher_internal:subscription_count", channel: key.name.text, data: data)
        send(frame, to: subscribers)
        guard let app = apps.first(where: { $0.hasKey(key.appKey.text) }) else { return }
        let event = WebhookEvent(.subscriptionCount, channel: key.name, count: subscribers.count)
        tellBackend(event, of: app)
    }
}
