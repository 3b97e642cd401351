import PusherChannels

/// A step of a ``MockWebSocket``'s script for one connection: the server's side of a conversation.
public enum SocketStep: Sendable, CustomStringConvertible {
    /// Lets the connection be made; implied before a step that needs a connection.
    case accept
    /// Lets the connection be made with the server behind the socket, which takes over from then on. It must come before all steps
    /// that need a connection.
    case serve
    /// Refuses the connection.
    case refuse(TransportError.Kind)
    /// Waits for the client to send a matching message; any other message is reported, and the script continues to wait.
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
    /// Injects a fault.
    case fault(Fault)

    /// The step's name in reports.
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

    /// Indicates whether the step needs a connection.
    var needsConnection: Bool {
        switch self {
        case .accept, .serve, .refuse, .wait, .drop, .fault: false
        case .expect, .send, .event, .establish, .controlFrame, .close: true
        }
    }

    /// The frame that the client receives from this step.
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
