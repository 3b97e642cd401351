import PusherChannels

/// Events that clients send to each other.
extension ServerMachine {
    private struct ClientEventRefusal: Error {
        var occasion = ServerProfile.Occasion.clientEvent
        var code = 4301
        let message: String
    }

    /// Passes a client event on to the channel's other subscribers.
    mutating func passOn(
        _ event: String, frame: JSONValue, text: String, from id: ConnectionID
    ) {
        guard let connection = connections[id] else { return }
        // A value is passed on as the text that came in, so that nothing of it is lost.
        let data = frame["data"]?.stringValue ?? rawJSONMember("data", of: text)
        let name = frame["channel"]?.stringValue
        do throws(ClientEventRefusal) {
            let userID = try sender(of: event, on: name, by: connection)
            try check(frame["data"], size: data?.utf8.count ?? 0)
            try countClientEvent(of: id)
            guard let name else { return }
            let key = key(of: Name(name), connection)
            let getsIt = connection.sockudo?.getsOwnEvents == true
            let receivers = channels[key]?.subscribers.filter { $0 != id || getsIt } ?? []
            let passed = ServerFrame.event(
                event, channel: name, json: passedData(frame["data"], raw: rawJSONMember("data", of: text)),
                userID: profile.namesSenders ? userID?.text : nil)
            if profile.cachesClientEvents, caches(ChannelName(name)) {
                cache.keep(passed, data: data ?? "", for: key, until: now + profile.cacheLifetime, at: now)
            }
            sendEvent(passed, SockudoEvent(name: event), of: key, to: receivers)
            observe(
                event, on: ChannelName(name), data: data ?? "", app: connection.app, by: id, receivers: receivers.count)
            let isRaw = profile.webhooksCarryValues || profile.clientEventData == .encoded
            let sent = WebhookEvent.ClientEvent(
                name: event, data: isRaw ? rawJSONMember("data", of: text) : data, isValue: profile.webhooksCarryValues,
                socketID: connection.socketID)
            tellBackend(
                WebhookEvent(.clientEvent, channel: Name(name), userID: userID, clientEvent: sent), of: connection.app)
            effects.append(.notice(.clientEvent(id, channel: name, event: event, receivers: receivers.count)))
        } catch {
            refuse(error.occasion, error.message, code: error.code, channel: name, from: id)
        }
    }

    /// Returns the JSON that the others get as the data; `nil` if they get none.
    private func passedData(_ value: JSONValue?, raw: String?) -> String? {
        switch profile.clientEventData {
        case .text: return (value?.stringValue ?? raw)?.quotedJSON
        case .value: return raw
        case .valueOrNull: return raw ?? "null"
        case .encoded: return (raw ?? "null").quotedJSON
        case .structure:
            let decoded = value?.stringValue ?? raw ?? "null"
            return (try? JSONValue(parsing: decoded)) == [:] ? "[]" : decoded
        }
    }

    /// Returns the id of the user who sends, on channels that have users. Throws if the client may not send.
    private func sender(
        of event: String, on channel: String?, by connection: Connection
    ) throws(ClientEventRefusal) -> Name? {
        guard connection.app.acceptsClientEvents else {
            throw ClientEventRefusal(message: "Client event rejected - client events are not enabled for this app")
        }
        guard event.begins(with: "client-"), event.unicodeScalars.count <= profile.maximumEventNameLength else {
            throw ClientEventRefusal(
                occasion: .otherEvent, message: "Client event rejected - invalid event name: \(event.shortened)")
        }
        let name = channel.map { ChannelName($0) }
        let kind: ServerProfile.Occasion? =
            switch name?.kind {
            case .encrypted: .eventOnEncryptedChannel
            case .private where name?.isCache == true && profile.answer(.eventOnCacheChannel) != nil: .eventOnCacheChannel
            case .private, .presence: nil
            default: .eventOnPublicChannel
            }
        if let kind { try allow(kind, "Client event rejected - only supported on private and presence channels") }
        guard let channel, let userID = connection.subscriptions[channel] else {
            let shown = channel?.shortened ?? ""
            try allow(.eventWithoutSubscription, "Client event rejected - not subscribed to channel \(shown)")
            return nil
        }
        return userID
    }

    /// Throws unless the server allows what the hosted service doesn't.
    private func allow(_ occasion: ServerProfile.Occasion, _ message: String) throws(ClientEventRefusal) {
        guard profile.accepts(occasion) else { throw ClientEventRefusal(occasion: occasion, message: message) }
    }

    private func check(_ data: JSONValue?, size: Int) throws(ClientEventRefusal) {
        if size > profile.maximumClientEventDataLength {
            try allow(.largeEvent, "Client event rejected - data too large")
        }
        if data == nil, profile.answer(.eventWithoutData) != nil {
            try allow(.eventWithoutData, "Client event rejected - no data")
        }
        guard profile.clientEventData == .structure else { return }
        switch data?.stringValue.flatMap({ try? JSONValue(parsing: $0) }) ?? data {
        case nil, .null, .object, .array: break
        default: throw ClientEventRefusal(code: 4200, message: "Invalid message format")
        }
    }

    private mutating func countClientEvent(of id: ConnectionID) throws(ClientEventRefusal) {
        let recent = (connections[id]?.clientEventTimes ?? []).filter { $0 + .seconds(1) > now }
        guard recent.count < profile.maximumClientEventsPerSecond else {
            throw ClientEventRefusal(message: "Client event rejected - rate limit exceeded")
        }
        connections[id]?.clientEventTimes = recent + [now]
    }
}
