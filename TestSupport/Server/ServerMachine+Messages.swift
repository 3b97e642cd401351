import PusherChannels

extension ServerMachine {
    /// Reads a client's frame and does what it asks.
    mutating func receive(_ text: String, from id: ConnectionID, into effects: inout [Effect]) {
        guard let frame = try? JSONValue(parsing: text), frame.objectValue != nil else {
            return receiveUnreadable(from: id, into: &effects)
        }
        guard let event = frame["event"]?.stringValue else {
            return reject("Message without an event", from: id, into: &effects)
        }
        switch Name(event) {
        case "pusher:ping":
            effects.append(.send(profile.pong, to: id))
        case "pusher:pong":
            // Its arrival is enough: it counts as activity.
            return
        case "pusher:subscribe":
            subscribe(frame["data"], from: id, into: &effects)
        case "pusher:unsubscribe":
            unsubscribe(frame["data"], from: id, into: &effects)
        case "pusher:signin" where profile.supportsSignIn:
            signIn(frame["data"], from: id, into: &effects)
        case _ where event.begins(with: "pusher:") || event.begins(with: "pusher_internal:"):
            guard case .refused(let code, let message) = profile.unknownEvents else { return }
            reject(message, code: code, from: id, into: &effects)
        default:
            passOn(event, frame: frame, text: text, from: id, into: &effects)
        }
    }

    private mutating func receiveUnreadable(from id: ConnectionID, into effects: inout [Effect]) {
        switch profile.unreadableMessages {
        case .refused(let code, let message):
            reject(message, code: code, from: id, into: &effects)
        case .fatal:
            for id in connections.keys.sorted() { close(id, code: 1011, reason: "The server died", into: &effects) }
        }
    }

    /// Replies with `pusher:error`; the connection stays open.
    mutating func reject(
        _ message: String, code: Int? = nil, channel: String? = nil, from id: ConnectionID, into effects: inout [Effect]
    ) {
        effects.append(.send(profile.error(message, code: code, channel: channel), to: id))
        effects.append(.notice(.protocolError(id, message: message)))
        observe(.refused, by: id, channel: channel.map { Name($0) }, text: message)
    }
}
