import PusherChannels
import TestSupport
import Testing

/// A socket whose server delays its reply to a close.
final class SlowToClose: WebSocket {
    private let base: MockWebSocket

    init(_ base: MockWebSocket) {
        self.base = base
    }

    var delegate: (any WebSocketDelegate)? {
        get { base.delegate }
        set { base.delegate = newValue }
    }

    func open(_ request: WebSocketRequest, attempt: ConnectionAttempt) { base.open(request, attempt: attempt) }
    func send(_ text: String) { base.send(text) }
    func close(code: UInt16, reason: String) {}
    func setReading(_ reading: Bool) { base.setReading(reading) }
    func finishClosing() { base.close(code: 1000, reason: "") }
}

extension TimeLimitTrait.Duration {
    /// The time limit of a test that might wait for something that never happens.
    static var lost: Self { .minutes((Patience.seconds + 59) / 60) }
}
