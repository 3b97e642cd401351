import PusherChannels

extension ServerMachine {
    /// Reads a client's frame and does what it asks.
    mutating func receive(_ text: String, from id: ConnectionID, into effects: inout [Effect]) {
        guard let frame = try? JSONValue(parsing: text), frame.objectValue != nil else {
            return reject("Invalid JSON", from: id, into: &effects)
        }
        guard let event = frame["event"]?.stringValue else {
            return reject("Message without an event", from: id, into: &effects)
        }
        switch event {
        case "pusher:ping":
            effects.append(.send(ServerFrame.pong, to: id))
        case "pusher:subscribe":
            subscribe(frame["data"], from: id, into: &effects)
        case "pusher:unsubscribe":
            unsubscribe(frame["data"], from: id, into: &effects)
        case _ where event.hasPrefix("pusher:") || event.hasPrefix("pusher_internal:"):
            // A pong's work is done by having come; what is not known is ignored.
            return
        default:
            passOn(event, frame: frame, text: text, from: id, into: &effects)
        }
    }

    /// Passes a client event on to the channel's other subscribers.
    private mutating func passOn(
        _ event: String, frame: JSONValue, text: String, from id: ConnectionID, into effects: inout [Effect]
    ) {
        guard let connection = connections[id] else { return }
        guard event.hasPrefix("client-"), event.count <= profile.maximumEventNameLength else {
            return reject("Client event rejected - invalid event name: \(event)", code: 4301, from: id, into: &effects)
        }
        guard let name = frame["channel"]?.stringValue, ServerChannelName(name: name).carriesClientEvents else {
            return reject(
                "Client event rejected - only supported on private and presence channels", code: 4301, from: id,
                into: &effects)
        }
        guard let userID = connection.subscriptions[name] else {
            return reject(
                "Client event rejected - not subscribed to channel \(name)", code: 4301, from: id, into: &effects)
        }
        // A value leaves as the text that came in, so that nothing of it is lost on the way.
        let data = frame["data"]?.stringValue ?? rawJSONMember("data", of: text)
        if let data, data.utf8.count > profile.maximumEventDataLength {
            return reject("Client event rejected - data too large", code: 4301, from: id, into: &effects)
        }
        let receivers = channels[key(of: name, connection)]?.subscribers.filter { $0 != id } ?? []
        send(ServerFrame.event(event, channel: name, data: data, userID: userID), to: receivers, into: &effects)
        effects.append(.notice(.clientEvent(id, channel: name, event: event, receivers: receivers.count)))
    }

    /// Answers with `pusher:error`; the connection stays.
    func reject(_ message: String, code: Int? = nil, from id: ConnectionID, into effects: inout [Effect]) {
        effects.append(.send(ServerFrame.error(message, code: code), to: id))
        effects.append(.notice(.protocolError(id, message: message)))
    }
}
