import PusherChannels

/// An event that a socket reported.
enum SocketEvent: Equatable, Sendable {
    case opened(ConnectionAttempt)
    case text(String)
    case binary([UInt8])
    case controlFrame
    case closed(WebSocketClosure, ConnectionAttempt)

    var failure: TransportError? {
        if case .closed(.failed(let failure), _) = self { failure } else { nil }
    }
}

/// A delegate that keeps its notifications in order, for a test to take one by one.
final class SocketEvents: WebSocketDelegate {
    private let stream: AsyncStream<SocketEvent>
    private let continuation: AsyncStream<SocketEvent>.Continuation
    /// The action to take from within the delegate calls.
    private let reaction: @Sendable (SocketEvent) -> Void
    private let socket = Locked<(any WebSocket)?>(nil)

    init(reaction: @escaping @Sendable (SocketEvent) -> Void = { _ in }) {
        (stream, continuation) = AsyncStream.makeStream()
        self.reaction = reaction
    }

    /// Keeps a socket alive as long as its delegate.
    func keep(_ socket: any WebSocket) {
        self.socket.withLock { $0 = socket }
    }

    /// Returns the next event; `nil` if the waiting task was cancelled, as the watchdog does.
    func next() async -> SocketEvent? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }

    /// Returns all events up to and including the close report.
    func untilClosed() async -> [SocketEvent] {
        var events: [SocketEvent] = []
        for await event in stream {
            events.append(event)
            if case .closed = event { break }
        }
        return events
    }

    func webSocketDidOpen(attempt: ConnectionAttempt) {
        tell(.opened(attempt))
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        if messages.count == 0 { tell(.controlFrame) }
        messages.forEach { kind, bytes in
            switch kind {
            case .text: tell(.text(String(decoding: bytes, as: UTF8.self)))
            case .binary: tell(.binary(Array(bytes)))
            }
        }
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        tell(.closed(closure, attempt))
    }

    private func tell(_ event: SocketEvent) {
        continuation.yield(event)
        reaction(event)
    }
}
