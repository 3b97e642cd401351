import PusherChannels

extension ServerMachine {
    /// Reads a client's frame and does what it asks.
    mutating func receive(_ text: String, from id: ConnectionID) {
        guard let frame = try? JSONValue(parsing: text) else {
            return refuse(text.isEmpty ? .emptyMessage : .unreadable, "Invalid JSON", from: id)
        }
        guard frame.objectValue != nil else { return refuse(.notAnObject, "Invalid JSON", from: id) }
        guard let name = frame["event"]?.stringValue else {
            let occasion: ServerProfile.Occasion = frame["event"] == nil ? .noEvent : .eventNotText
            return refuse(occasion, "Message without an event", from: id)
        }
        let event = pusherName(name, from: id)
        switch Name(event) {
        case "pusher:resume" where profile.sockudoV2 != nil:
            resume(frame["data"], from: id)
        case "pusher:channel_history" where connections[id]?.sockudo != nil:
            sendHistory(frame["data"], from: id)
        case "pusher:ping":
            effects.append(.send(profile.pong, to: id))
        case "pusher:pong":
            // Its arrival is enough: it counts as activity.
            return
        case "pusher:subscribe":
            subscribe(frame["data"], from: id)
        case "pusher:unsubscribe":
            unsubscribe(frame["data"], from: id)
        case "pusher:signin" where profile.supportsSignIn:
            signIn(frame["data"], from: id)
        case _ where event.begins(with: "pusher:") || event.begins(with: "pusher_internal:"):
            _ = answer(.unknownEvent, to: id)
        default:
            passOn(event, frame: frame, text: text, from: id)
        }
    }

    /// Gives the profile's answer, or else the hosted service's.
    mutating func refuse(
        _ occasion: ServerProfile.Occasion, _ message: String, code: Int? = nil, channel: String? = nil, from id: ConnectionID
    ) {
        let appKey = connections[id]?.app.key
        guard answer(occasion, channel: channel, words: ["reason": message], to: id) else {
            return reject(message, code: code, channel: channel, from: id)
        }
        guard profile.answer(occasion) != .nothing else { return }
        effects.append(.notice(.protocolError(id, message: message)))
        observe(.refused, appKey: appKey, by: id, channel: channel.map { Name($0) }, text: message)
    }

    /// Replies with `pusher:error`; the connection stays open.
    mutating func reject(
        _ message: String, code: Int? = nil, channel: String? = nil, from id: ConnectionID
    ) {
        effects.append(.send(profile.error(message, code: code, channel: channel), to: id))
        effects.append(.notice(.protocolError(id, message: message)))
        observe(.refused, by: id, channel: channel.map { Name($0) }, text: message)
    }
}
