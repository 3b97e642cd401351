import PusherChannels

/// Events that clients send to each other.
extension ServerMachine {
    private struct ClientEventRefusal: Error {
        var code = 4301
        let message: String
    }

    /// Passes a client event on to the channel's other subscribers.
    mutating func passOn(
        _ event: String, frame: JSONValue, text: String, from id: ConnectionID, into effects: inout [Effect]
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
            let receivers = channels[key(of: Name(name), connection)]?.subscribers.filter { $0 != id } ?? []
            let passed =
                switch profile.clientEventData {
                case .text: ServerFrame.event(event, channel: name, data: data, userID: userID?.text)
                case .value, .valueButNoText:
                    ServerFrame.event(event, channel: name, json: rawJSONMember("data", of: text), userID: userID?.text)
                }
            send(passed, to: receivers, into: &effects)
            observe(
                event, on: ChannelName(name), data: data ?? "", app: connection.app, by: id, receivers: receivers.count)
            let sent = WebhookEvent.ClientEvent(name: event, data: data, socketID: connection.socketID)
            tellBackend(
                WebhookEvent(.clientEvent, channel: Name(name), userID: userID, clientEvent: sent), of: connection.app,
                into: &effects)
            effects.append(.notice(.clientEvent(id, channel: name, event: event, receivers: receivers.count)))
        } catch {
            reject(error.message, code: error.code, channel: name, from: id, into: &effects)
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
            throw ClientEventRefusal(message: "Client event rejected - invalid event name: \(event.shortened)")
        }
        guard let channel, ChannelName(channel).allowsClientEvents else {
            throw ClientEventRefusal(message: "Client event rejected - only supported on private and presence channels")
        }
        guard let userID = connection.subscriptions[channel] else {
            throw ClientEventRefusal(message: "Client event rejected - not subscribed to channel \(channel.shortened)")
        }
        return userID
    }

    private func check(_ data: JSONValue?, size: Int) throws(ClientEventRefusal) {
        guard size <= profile.maximumEventDataLength else {
            throw ClientEventRefusal(message: "Client event rejected - data too large")
        }
        guard profile.clientEventData != .valueButNoText || data?.stringValue == nil else {
            throw ClientEventRefusal(code: 4200, message: "Invalid message format")
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
