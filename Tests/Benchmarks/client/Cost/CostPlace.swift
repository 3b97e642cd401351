/// A place in a message that a server can fill with anything.
struct CostPlace: Sendable {
    enum Content: Sendable {
        /// A string's content.
        case text
        /// Any value.
        case value
        /// Any value as JSON in a string, as servers often send data.
        case quoted
        /// Any text or value, encrypted, in base64.
        case encrypted
    }

    let name: String
    let content: Content
    private let before: String
    private let after: String
    /// The state of the client when the message arrives.
    let scene: CostScene
    /// Indicates whether the application is notified of each element of a list, as if each came in its own message.
    let didChange: Bool

    private init(
        _ name: String, _ content: Content, _ message: String, in scene: CostScene = .connected, didChange: Bool = false
    ) {
        self.name = name
        self.didChange = didChange
        self.content = content
        self.scene = scene
        let parts = message.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        before = String(parts[0])
        after = String(parts[1])
    }

    /// Returns a message of about `size` bytes, and the length that its cost is divided by.
    func message(_ shape: CostShape, isText: Bool, size: Int) -> (bytes: [UInt8], length: Int) {
        let room = max(1, size - before.utf8.count - after.utf8.count)
        let (filling, pieces) = filling(shape, isText, room)
        let bytes = Array(before.utf8) + filling + Array(after.utf8)
        return (bytes, bytes.count + (didChange && !isText ? pieces * Self.shortestNews : 0))
    }

    /// The length of a message that reports a single change, without the change.
    private static let shortestNews = #"{"event":"pusher_internal:member_added","channel":"presence-room","data":{"user_id":}}"#
        .utf8.count

    private func filling(_ shape: CostShape, _ isText: Bool, _ room: Int) -> (bytes: [UInt8], pieces: Int) {
        let filled = shape.filled(isText ? room - 2 : room)
        let value = isText ? Array("\"".utf8) + filled.bytes + Array("\"".utf8) : filled.bytes
        return switch content {
        case .text: shape.filled(room)
        case .value: (value, filled.pieces)
        case .quoted: (Self.quoted(value), filled.pieces)
        case .encrypted: (CostScene.encrypted(shape.bytes(room * 3 / 4)), filled.pieces)
        }
    }

    /// Returns the bytes escaped as the content of a string.
    private static func quoted(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { result.append(UInt8(ascii: "\\")) }
            result.append(byte)
        }
        return result
    }

    static let all = [
        CostPlace("event", .text, #"{"event":"%","channel":"room","data":"{}"}"#),
        CostPlace("event of the protocol", .text, #"{"event":"pusher:%","channel":"room","data":"{}"}"#),
        CostPlace("internal event", .text, #"{"event":"pusher_internal:%","channel":"room","data":"{}"}"#),
        CostPlace("encrypted event", .text, #"{"event":"%","channel":"private-encrypted-room","data":"{}"}"#),
        CostPlace("event, no channel", .text, #"{"event":"%","data":"{}"}"#),
        CostPlace("channel", .text, #"{"event":"new","channel":"%","data":"{}"}"#),
        CostPlace("user_id", .value, #"{"event":"client-new","channel":"presence-room","data":"{}","user_id":%}"#),
        CostPlace("data", .value, #"{"event":"new","channel":"room","data":%}"#),
        CostPlace("data in a string", .quoted, #"{"event":"new","channel":"room","data":"%"}"#),
        CostPlace("data, no channel", .value, #"{"event":"new","data":%}"#),
        CostPlace("data, encrypted", .encrypted, #"{"event":"new","channel":"private-encrypted-room","data":%}"#),
        CostPlace(
            "ciphertext", .text,
            #"{"event":"new","channel":"private-encrypted-room","data":{"nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","ciphertext":"%"}}"#
        ),
        CostPlace("unencrypted data", .value, #"{"event":"new","channel":"private-encrypted-room","data":%}"#),
        CostPlace("data of the user", .value, ##"{"event":"new","channel":"#server-to-user-me","data":%}"##),
        CostPlace("another key", .text, #"{"event":"new","channel":"room","%":1}"#),
        CostPlace("another value", .value, #"{"event":"new","channel":"room","more":%}"#),
        CostPlace("whole message", .value, "%"),
        CostPlace("error", .value, #"{"event":"pusher:error","data":%}"#),
        CostPlace("error's message", .value, #"{"event":"pusher:error","data":{"code":4301,"message":%}}"#),
        CostPlace("error in a string", .quoted, #"{"event":"pusher:error","data":"%"}"#),
        CostPlace("error's code", .value, #"{"event":"pusher:error","data":{"code":%}}"#),
        CostPlace("ping", .value, #"{"event":"pusher:ping","data":%}"#),
        CostPlace("socket_id", .value, establishing(#""socket_id":%"#), in: .establishing),
        CostPlace("activity_timeout", .value, establishing(#""socket_id":"1.1","activity_timeout":%"#), in: .establishing),
        CostPlace(
            "refusal", .value, #"{"event":"pusher:subscription_error","channel":"waiting","data":%}"#, in: .subscribing),
        CostPlace(
            "refusal's error", .value, #"{"event":"pusher:subscription_error","channel":"waiting","data":{"error":%}}"#,
            in: .subscribing),
        CostPlace("success", .value, #"{"event":"pusher_internal:subscription_succeeded","channel":"room","data":%}"#),
        CostPlace("members' ids", .value, succeeded(#"{"ids":%}"#), in: .subscribing),
        CostPlace("members' hash", .value, succeeded(#"{"hash":%}"#), in: .subscribing),
        CostPlace("members' hash in a string", .quoted, succeeded(quoted: #"{\"hash\":%}"#), in: .subscribing),
        CostPlace("members", .value, succeeded("%"), in: .subscribing),
        CostPlace("members' ids, again", .value, succeeded(#"{"ids":%}"#), didChange: true),
        CostPlace("members' hash, again", .value, succeeded(#"{"hash":%}"#), didChange: true),
        CostPlace("member who came", .value, member("added", #""user_id":%"#)),
        CostPlace("member's info", .value, member("added", #""user_id":"b","user_info":%"#)),
        CostPlace("member who left", .value, member("removed", #""user_id":%"#)),
        CostPlace(
            "count", .value,
            #"{"event":"pusher_internal:subscription_count","channel":"room","data":{"subscription_count":%}}"#),
        CostPlace("cache miss", .text, #"{"event":"pusher:cache_miss","channel":"%"}"#),
        CostPlace("user_data", .value, #"{"event":"pusher:signin_success","data":{"user_data":%}}"#, in: .signingIn),
        CostPlace("user's id", .value, #"{"event":"pusher:signin_success","data":{"user_data":{"id":%}}}"#, in: .signingIn),
        CostPlace(
            "user's id in a string", .text, #"{"event":"pusher:signin_success","data":{"user_data":"{\"id\":\"%\"}"}}"#,
            in: .signingIn),
        CostPlace("watchlist", .value, watchlist(#"{"name":"online","user_ids":%}"#)),
        CostPlace("watchlist's event", .value, watchlist(#"{"name":%,"user_ids":["b"]}"#)),
        CostPlace("watchlists", .value, #"{"event":"pusher_internal:watchlist_events","data":{"events":%}}"#, didChange: true),
        CostPlace("plain watchlist", .value, #"{"event":"online","data":{"user_ids":%}}"#),
    ]

    private static func establishing(_ data: String) -> String {
        #"{"event":"pusher:connection_established","data":{"# + data + "}}"
    }

    private static func succeeded(_ presence: String) -> String {
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":{"presence":"# + presence + "}}"
    }

    private static func succeeded(quoted presence: String) -> String {
        #"{"event":"pusher_internal:subscription_succeeded","channel":"presence-room","data":"{\"presence\":"# + presence
            + #"}"}"#
    }

    private static func member(_ change: String, _ data: String) -> String {
        #"{"event":"pusher_internal:member_"# + change + #"","channel":"presence-room","data":{"# + data + "}}"
    }

    private static func watchlist(_ event: String) -> String {
        #"{"event":"pusher_internal:watchlist_events","data":{"events":["# + event + "]}}"
    }
}
