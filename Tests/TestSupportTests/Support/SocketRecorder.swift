import PusherChannels

/// A socket delegate that writes down every call, and can act on it.
final class SocketRecorder: WebSocketDelegate {
    private let log = Locked<[String]>([])
    private let action = Locked<(@Sendable (String) -> Void)?>(nil)

    var entries: [String] { log.withLock { $0 } }

    /// Calls `body` with every entry after writing it, still within the delegate call.
    func onEntry(_ body: (@Sendable (String) -> Void)?) {
        action.withLock { $0 = body }
    }

    private func write(_ entry: String) {
        log.withLock { $0.append(entry) }
        action.withLock { $0 }?(entry)
    }

    func webSocketDidOpen(attempt: ConnectionAttempt) {
        write("\(attempt) open")
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        if messages.count == 0 { write("\(attempt) control") }
        if messages.age > .zero { write("\(attempt) waited \(messages.age)") }
        messages.forEach { _, bytes in write("\(attempt) \(String(decoding: bytes, as: UTF8.self))") }
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        switch closure {
        case .closed(let code, let reason): write("\(attempt) closed \(code) \(reason)")
        case .failed(let failure): write("\(attempt) failed \(failure.kind)")
        }
    }
}
