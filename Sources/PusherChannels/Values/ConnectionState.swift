/// The state of a connection, in PusherSwift's five words.
public enum ConnectionState: Int, Sendable, CustomStringConvertible {
    /// A socket is being opened, or is open and waits for the server's `pusher:connection_established`.
    case connecting
    /// The server established the connection; events flow.
    case connected
    /// The socket is being closed because the user asked for it.
    case disconnecting
    /// There is no connection, and none is being made.
    case disconnected
    /// The connection was lost; the next attempt waits for its time.
    case reconnecting

    /// The state's name in lower case, as PusherSwift spells it.
    public func stringValue() -> String {
        switch self {
        case .connecting: "connecting"
        case .connected: "connected"
        case .disconnecting: "disconnecting"
        case .disconnected: "disconnected"
        case .reconnecting: "reconnecting"
        }
    }

    /// The ``stringValue()``.
    public var description: String { stringValue() }
}

/// The connection went from one state to another.
public struct ConnectionStateChange: Equatable, Sendable {
    /// The state before the change.
    public let old: ConnectionState
    /// The state after the change.
    public let new: ConnectionState
    /// The reason for the change; nil for what the application asked for, and for success.
    public let reason: PusherError?
}
