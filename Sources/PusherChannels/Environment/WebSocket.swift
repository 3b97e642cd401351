/// A WebSocket connection as the SDK needs it: the seam under a connection.
///
/// One socket serves any number of attempts, one after the other. All members may be called from any thread. For each
/// ``open(_:attempt:)`` the delegate receives at most one `didOpen`, any number of messages, and **exactly one** `didClose`, even
/// if the socket was closed by ``close(code:reason:)`` before it was open. Reports of one attempt never overlap.
public protocol WebSocket: AnyObject, Sendable {
    /// The object that receives this socket's events; held weakly.
    var delegate: (any WebSocketDelegate)? { get set }

    /// Starts connecting. An earlier attempt that is still open is abandoned: closed, and reported as closed.
    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt)

    /// Sends one text message, which is dropped if the socket isn't open; the close report says so.
    func send(_ text: String)

    /// Sends one text message that answers the peer, and of which only the latest matters: while much output waits, it replaces
    /// the one before. A peer that asks without end and reads nothing must not fill the memory.
    func sendUnlessBusy(_ text: String)

    /// Closes with a code and a reason (RFC 6455, 7.1.2); abandons the attempt if the socket isn't open yet.
    ///
    /// The socket waits a short while for the peer's close frame, then ends by itself.
    func close(code: UInt16, reason: String)

    /// Stops (`false`) or resumes (`true`) reading; while it is stopped, TCP makes the server wait. Each attempt begins with
    /// reading on.
    func setReading(_ reading: Bool)
}

extension WebSocket {
    /// Sends the message like any other.
    public func sendUnlessBusy(_ text: String) {
        send(text)
    }
}

/// Receives the reports of a ``WebSocket``.
public protocol WebSocketDelegate: AnyObject, Sendable {
    /// The upgrade succeeded.
    func webSocketDidOpen(attempt: ConnectionAttempt)

    /// The messages of one read arrived. There are none if it brought control frames only, which are a sign of life; the socket
    /// has answered pings already. The bytes are valid only during the call.
    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt)

    /// The attempt is over.
    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt)
}
