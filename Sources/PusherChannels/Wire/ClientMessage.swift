/// A message from the client to the server.
package enum ClientMessage: Equatable, Sendable {
    case ping
    case pong
    /// `auth` and `channelData` are passed on byte for byte as the authorization gave them.
    case subscribe(channel: String, auth: String?, channelData: String?)
    case unsubscribe(channel: String)
    case signIn(auth: String, userData: String)
    /// `data` is JSON text, put into the frame as a value, never as a string holding JSON.
    case clientEvent(name: String, channel: String, data: String)

    /// The message as a log may show it: without signatures and the data that was signed.
    var withoutSecrets: ClientMessage {
        switch self {
        case .subscribe(let channel, let auth, let channelData):
            .subscribe(channel: channel, auth: auth.map { _ in "…" }, channelData: channelData.map { _ in "…" })
        case .signIn: .signIn(auth: "…", userData: "…")
        case .ping, .pong, .unsubscribe, .clientEvent: self
        }
    }
}

/// An encoder that writes client messages as frame text.
enum EnvelopeEncoder {
    static func encode(_ message: ClientMessage) -> String {
        switch message {
        case .ping: #"{"event":"pusher:ping","data":{}}"#
        case .pong: #"{"event":"pusher:pong","data":{}}"#
        case .subscribe(let channel, let auth, let channelData):
            control("pusher:subscribe", [("channel", channel), ("auth", auth), ("channel_data", channelData)])
        case .unsubscribe(let channel):
            control("pusher:unsubscribe", [("channel", channel)])
        case .signIn(let auth, let userData):
            control("pusher:signin", [("auth", auth), ("user_data", userData)])
        case .clientEvent(let name, let channel, let data):
            "{\"event\":\(name.quotedJSON),\"channel\":\(channel.quotedJSON),\"data\":\(data)}"
        }
    }

    private static func control(_ event: String, _ data: [(key: String, value: String?)]) -> String {
        let members = data.compactMap { member in
            member.value.map { "\"\(member.key)\":\($0.quotedJSON)" }
        }
        return "{\"event\":\"\(event)\",\"data\":{\(members.joined(separator: ","))}}"
    }
}
