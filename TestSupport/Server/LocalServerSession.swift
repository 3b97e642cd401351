#if LocalServer
import PusherChannels

/// One WebSocket of a ``LocalServer``, whose machine is at the other end.
struct LocalServerSession: WebSocketSession {
    let core: LocalServerCore
    let id: ServerMachine.ConnectionID

    /// - Parameter path: The upgrade request's path and query.
    init(core: LocalServerCore, path: String, output: FrameQueue) {
        self.core = core
        id = core.open(path: path, output: output)
    }

    func receive(_ message: ClientMessage) {
        switch message {
        case .text(let text): core.receive(.received(text, from: id))
        case .pong: core.receive(.pong(id))
        case .ping(let payload): core.send(.pong(payload), to: id)
        case .end: break
        }
    }

    func end(saying reply: OutgoingFrame?) {
        core.end(id, saying: reply)
    }
}
#endif
