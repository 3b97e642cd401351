import PusherChannels

/// Writes what a server says: one JSON object a frame, `data` being mostly a *string* that holds JSON.
enum ServerFrame {
    /// An event on a channel; `data` goes into the frame as a JSON string.
    static func event(_ name: String, channel: String?, data: String?, userID: String? = nil) -> String {
        frame(name, channel: channel, data: data?.quotedJSON, userID: userID)
    }

    /// A `pusher:error`, whose `data` is an object.
    static func error(_ message: String, code: Int?) -> String {
        let data: JSONValue = .object(["message": .string(message), "code": code.map { .integer($0) } ?? .null])
        return frame("pusher:error", channel: nil, data: data.text)
    }

    /// A `pusher:subscription_error`, whose `data` is an object.
    static func subscriptionError(_ channel: String, type: String, message: String, status: Int) -> String {
        let data: JSONValue = .object(["type": .string(type), "error": .string(message), "status": .integer(status)])
        return frame("pusher:subscription_error", channel: channel, data: data.text)
    }

    static let pong = frame("pusher:pong", channel: nil, data: "{}")
    static let ping = frame("pusher:ping", channel: nil, data: "{}")

    private static func frame(_ event: String, channel: String?, data: String?, userID: String? = nil) -> String {
        var text = "{\"event\":\(event.quotedJSON)"
        if let channel { text += ",\"channel\":\(channel.quotedJSON)" }
        if let data { text += ",\"data\":\(data)" }
        if let userID { text += ",\"user_id\":\(userID.quotedJSON)" }
        return text + "}"
    }
}
