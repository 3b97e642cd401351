import PusherChannels

/// Writes a server's frames: one JSON object for each, whose `data` is usually a *string* that holds JSON.
enum ServerFrame {
    /// Returns an event on a channel; `data` goes into the frame as a JSON string.
    static func event(_ name: String, channel: String?, data: String?, userID: String? = nil) -> String {
        frame(name, channel: channel, data: data?.quotedJSON, userID: userID)
    }

    /// Returns an event whose `data` is a JSON value, given as text.
    static func event(_ name: String, channel: String?, json: String?, userID: String?) -> String {
        frame(name, channel: channel, data: json, userID: userID)
    }

    /// Returns an event whose `data` is a JSON value.
    static func event(_ name: String, channel: String? = nil, value: JSONValue) -> String {
        frame(name, channel: channel, data: value.text)
    }

    static func established(socketID: String, activityTimeout: Int?) -> String {
        var data: [Name: JSONValue] = ["socket_id": .string(socketID)]
        data["activity_timeout"] = activityTimeout.map { .integer($0) }
        return event("pusher:connection_established", channel: nil, data: JSONValue.object(data).text)
    }

    static let ping = event("pusher:ping", value: [:])

    private static func frame(_ event: String, channel: String?, data: String?, userID: String? = nil) -> String {
        var text = "{\"event\":\(event.quotedJSON)"
        if let channel { text += ",\"channel\":\(channel.quotedJSON)" }
        if let data { text += ",\"data\":\(data)" }
        if let userID { text += ",\"user_id\":\(userID.quotedJSON)" }
        return text + "}"
    }
}

/// The frames in which servers differ.
extension ServerProfile {
    var pong: String {
        switch pongData {
        case .object: ServerFrame.event("pusher:pong", value: [:])
        case .text: ServerFrame.event("pusher:pong", channel: nil, data: "{}")
        case .absent: ServerFrame.event("pusher:pong", channel: nil, data: nil)
        }
    }

    func error(_ message: String, code: Int?, channel: String? = nil) -> String {
        let data: JSONValue = .object(["message": .string(message), "code": code.map { .integer($0) } ?? .null])
        let channel = namesChannelInErrors ? channel?.shortened : nil
        guard sendsErrorDataAsText else { return ServerFrame.event("pusher:error", channel: channel, value: data) }
        return ServerFrame.event("pusher:error", channel: channel, data: data.text)
    }

    func subscriptionSucceeded(_ channel: ChannelName, members: JSONValue?) -> String {
        let data: String? =
            switch successData {
            case _ where members != nil: members.map { JSONValue.object(["presence": $0]).text }
            case .object: "{}"
            case .emptyText: ""
            case .absent: nil
            case .value: "{}"
            }
        if successData == .value, members == nil {
            return ServerFrame.event("pusher_internal:subscription_succeeded", channel: channel.text, value: [:])
        }
        return ServerFrame.event("pusher_internal:subscription_succeeded", channel: channel.text, data: data)
    }

    func subscriptionError(_ channel: String, _ message: String, type: String?, status: Int) -> String {
        var data: [Name: JSONValue] = ["error": .string(message), "status": .integer(status)]
        data["type"] = type.map { .string($0) }
        return ServerFrame.event("pusher:subscription_error", channel: channel.shortened, value: .object(data))
    }

    func subscriptionRefused(_ channel: ChannelName, _ refusal: ServerMachine.SubscriptionRefusal) -> String {
        switch channelRefusal {
        case .subscriptionError:
            return subscriptionError(channel.text, refusal.message, type: refusal.kind.rawValue, status: refusal.status)
        case .internalSubscriptionError:
            return ServerFrame.event("pusher_internal:subscription_error", channel: channel.text.shortened, data: "{}")
        case .connectionError:
            return error(refusal.message, code: refusal.kind == .invalidChannel ? 4300 : 4009)
        case .errorWithoutCode:
            return error(refusal.message, code: nil)
        }
    }

    func watchlistEvent(_ name: String, userIDs: [String]) -> String? {
        let ids = JSONValue.array(userIDs.map { .string($0) })
        switch watchlist {
        case nil:
            return nil
        case .plainEvents:
            return ServerFrame.event(name, value: .object(["user_ids": ids]))
        case .watchlistEvents:
            let events: JSONValue = .array([.object(["name": .string(name), "user_ids": ids])])
            return ServerFrame.event(
                "pusher_internal:watchlist_events", channel: nil, data: JSONValue.object(["events": events]).text)
        }
    }
}

extension String {
    /// Indicates whether a text may be repeated as a whole.
    var isShort: Bool { utf8.count <= 800 }

    /// A client's text as a server repeats it. A long text is cut, because it would wait in memory for a client that sends
    /// megabytes and reads nothing. No valid name is that long.
    var shortened: String { isShort ? self : String(unicodeScalars.prefix(200)) + "…" }
}
