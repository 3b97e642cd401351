/// A message from the client to the server.
package enum ClientMessage: Equatable, Sendable {
    case ping
    case pong
    /// `auth` and `channelData` are passed on byte for byte as the authorization gave them.
    case subscribe(channel: String, auth: String?, channelData: String?, options: SubscriptionOptions? = nil)
    case unsubscribe(channel: String)
    case signIn(auth: String, userData: String)
    /// `data` is JSON text, put into the frame as a value, never as a string holding JSON.
    case clientEvent(name: String, channel: String, data: String)
    /// Asks a Sockudo server for the events after these places.
    case resume([Name: StreamPosition])
    /// Asks a Sockudo server for a channel's events with these serials, the oldest first, or for what follows a page.
    case history(channel: String, serials: ClosedRange<Int>, cursor: String?)

    /// The message as a log may show it: without signatures and the data that was signed.
    var withoutSecrets: ClientMessage {
        switch self {
        case .subscribe(let channel, let auth, let channelData, let options):
            .subscribe(
                channel: channel, auth: auth.map { _ in "…" }, channelData: channelData.map { _ in "…" }, options: options)
        case .signIn: .signIn(auth: "…", userData: "…")
        case .ping, .pong, .unsubscribe, .clientEvent, .resume, .history: self
        }
    }
}

/// An encoder that writes client messages as frame text.
enum EnvelopeEncoder {
    static func encode(_ message: ClientMessage) -> String {
        switch message {
        case .ping: #"{"event":"pusher:ping","data":{}}"#
        case .pong: #"{"event":"pusher:pong","data":{}}"#
        case .subscribe(let channel, let auth, let channelData, let options):
            control(
                "pusher:subscribe", [("channel", channel), ("auth", auth), ("channel_data", channelData)], options?.members ?? [])
        case .unsubscribe(let channel):
            control("pusher:unsubscribe", [("channel", channel)])
        case .signIn(let auth, let userData):
            control("pusher:signin", [("auth", auth), ("user_data", userData)])
        case .clientEvent(let name, let channel, let data):
            "{\"event\":\(name.quotedJSON),\"channel\":\(channel.quotedJSON),\"data\":\(data)}"
        case .resume(let positions):
            nested("sockudo:resume", ["channel_positions": .object(positions.mapValues(\.json))])
        case .history(let channel, let serials, let cursor):
            nested(
                "sockudo:channel_history",
                [
                    "channel": .string(channel), "direction": "oldest_first", "start_serial": .integer(serials.lowerBound),
                    "end_serial": .integer(serials.upperBound), "cursor": cursor.map { .string($0) },
                ].compactMapValues { $0 })
        }
    }

    /// Returns a frame whose data is a text, as Sockudo doesn't read these from an object.
    private static func nested(_ event: String, _ data: [Name: JSONValue]) -> String {
        "{\"event\":\"\(event)\",\"data\":\(JSONValue.object(data).text.quotedJSON)}"
    }

    private static func control(
        _ event: String, _ data: [(key: String, value: String?)], _ more: [(key: String, value: JSONValue?)] = []
    ) -> String {
        let texts = data.map { ($0.key, $0.value?.quotedJSON) } + more.map { ($0.key, $0.value?.text) }
        let members = texts.compactMap { key, text in text.map { "\"\(key)\":\($0)" } }
        return "{\"event\":\"\(event)\",\"data\":{\(members.joined(separator: ","))}}"
    }
}

extension StreamPosition {
    fileprivate var json: JSONValue { ["serial": .integer(serial), "stream_id": .string(streamID)] }
}
