/// The state of a connection, with PusherSwift's five names.
public enum ConnectionState: Int, Sendable, CustomStringConvertible {
    /// A socket is being opened, or is open and waiting for the server's `pusher:connection_established`.
    case connecting
    /// The server established the connection; events flow.
    case connected
    /// The socket is being closed because the user asked for it.
    case disconnecting
    /// There is no connection, and none is being made.
    case disconnected
    /// The connection was lost; the next attempt is scheduled.
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

/// A change of a connection's state.
public struct ConnectionStateChange: Equatable, Sendable {
    /// The state before the change.
    public let old: ConnectionState
    /// The state after the change.
    public let new: ConnectionState
    /// The reason for the change; nil if the application asked for it, and for success.
    public let reason: PusherError?

    /// Creates a change; the SDK makes its own, applications need this only in tests.
    public init(old: ConnectionState, new: ConnectionState, reason: PusherError? = nil) {
        self.old = old
        self.new = new
        self.reason = reason
    }
}
