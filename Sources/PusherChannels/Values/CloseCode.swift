/// The reaction of a client to a close code.
enum CloseReaction: Equatable, Sendable {
    /// Connect again after the backoff's next delay, which is at least this long.
    case backOff(atLeast: Duration)
    /// Connect again at once.
    case reconnectAtOnce
    /// The server takes TLS only.
    case upgradeToTLS
    /// Don't connect again: trying without a change can't succeed.
    case stop
}

/// A WebSocket close code as the Channels protocol reads it: by range, which covers future codes too.
struct CloseCode: Equatable, Sendable {
    let rawValue: UInt16

    init(_ rawValue: UInt16) {
        self.rawValue = rawValue
    }

    var reaction: CloseReaction {
        switch rawValue {
        case 4000: .upgradeToTLS
        case 4001...4099: .stop
        case 4100...4199: .backOff(atLeast: .seconds(1))
        case 4200...4299: .reconnectAtOnce
        default: .backOff(atLeast: .zero)
        }
    }

    /// Indicates whether to report the code to the application. The ordinary ends of a connection and the protocol's requests to
    /// come back are not reported.
    var deservesReport: Bool {
        switch rawValue {
        case 1000, 1001, 1005, 1006, 1011...1014: false
        case 4100...4299: false
        default: true
        }
    }

    /// The code of a connection, a user or a subscription that isn't authorized.
    static let unauthorized = 4009

    /// The codes that refuse a connection.
    static let refusals = 4000..<4100

    /// The protocol's own codes with which a server asks the client to come back, whatever the application's settings.
    static let asksBack = 4100..<4400

    /// The fix that is needed before a connection can be made, for codes that mean the same on all servers.
    var advice: String? {
        switch rawValue {
        case 4001: "check the key, and the host or cluster that its app lives in"
        case 4003: "enable the app"
        case 4004: "close clients of the app, or raise its limit"
        case 4005: "check the path: a server behind a proxy may have a prefix"
        case 4007: "this client speaks version 7 of the protocol"
        default: nil
        }
    }

}

/// The end of a socket, reported exactly once after every `open`.
public enum WebSocketClosure: Equatable, Sendable {
    /// The WebSocket was closed with a code and a reason: the peer's close frame, or ours.
    ///
    /// 1005 stands for a close frame without a code (RFC 6455, 7.1.5).
    case closed(code: UInt16, reason: String)

    /// The socket never opened, or ended without a close frame (what RFC 6455 calls 1006).
    case failed(TransportError)
}
