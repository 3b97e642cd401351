import PusherChannels

/// A step of a ``MockWebSocket`` on one connection, in order: the server's side of a conversation.
public enum SocketStep: Sendable, CustomStringConvertible {
    /// Lets the connection be made; it goes without saying before a step that needs a connection.
    case accept
    /// Lets the connection be made with the server behind the socket, which plays its part from then on.
    case serve
    /// Does not let the connection be made.
    case refuse(WebSocketFailure.Kind)
    /// Waits for the client to send a message that is meant; another one is reported, and the script waits on.
    case expect(FrameMatcher)
    /// Sends a text message of any content.
    case send(String)
    /// Sends an event; `data` becomes a JSON string in the message, as servers send it.
    case event(String, channel: String? = nil, data: String? = nil)
    /// Sends the handshake's `pusher:connection_established`.
    case establish(socketID: String = "46123.486095", activityTimeout: Int? = 120)
    /// Sends a control frame, a WebSocket ping or pong.
    case controlFrame
    /// Lets time pass by the socket's scheduler.
    case wait(Duration)
    /// Closes the connection with a close frame.
    case close(code: UInt16, reason: String = "")
    /// Cuts the connection without a close frame.
    case drop
    /// Lets something go wrong.
    case fault(Fault)

    /// The step as reports name it.
    public var description: String {
        switch self {
        case .accept: "accept"
        case .serve: "serve"
        case .refuse(let kind): "refuse: \(kind)"
        case .expect(let matcher): "expect \(matcher)"
        case .send(let text): "send \(text)"
        case .event(let name, let channel, _): "send \(name)\(channel.map { " on \($0)" } ?? "")"
        case .establish: "establish"
        case .controlFrame: "control frame"
        case .wait(let duration): "wait \(duration)"
        case .close(let code, _): "close \(code)"
        case .drop: "drop"
        case .fault(let fault): "fault \(fault)"
        }
    }

    /// Indicates whether it can't be taken before the connection is made.
    var needsConnection: Bool {
        switch self {
        case .accept, .serve, .refuse, .wait, .drop, .fault: false
        case .expect, .send, .event, .establish, .controlFrame, .close: true
        }
    }

    /// The frame that a client receives by it.
    var message: String? {
        switch self {
        case .send(let text): text
        case .event(let name, let channel, let data): ServerFrame.event(name, channel: channel, data: data)
        case .establish(let socketID, let activityTimeout):
            ServerFrame.established(socketID: socketID, activityTimeout: activityTimeout)
        default: nil
        }
    }
}
