import PusherChannels

/// The frames that wait for one client. Any thread adds them, and the server's sends them.
final class FrameQueue: Sendable {
    private struct State {
        var frames = Deque<OutgoingFrame>()
        /// The bytes of these frames.
        var size = 0
        var isClosing = false
        var isFinished = false
        var isCut = false
        /// Indicates whether the server's thread has taken everything, and doesn't look by itself.
        var isWaiting = true
    }

    private let state = Locked(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: A closure that makes the server's thread look at the queue.
    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Adds a frame, and returns how many wait. Nothing follows a close frame or a cut.
    @discardableResult
    func append(_ frame: OutgoingFrame) -> Int {
        let (count, isNoticed) = state.withLock { state in
            guard !state.isClosing, !state.isCut, !state.isFinished else { return (0, true) }
            state.frames.append(frame)
            state.size += frame.bytes.count
            state.isClosing = frame.isClose
            defer { state.isWaiting = false }
            // The time for a close frame counts from now on, though others wait before it.
            return (state.frames.count, !state.isWaiting && !frame.isClose)
        }
        if !isNoticed { wake() }
        return count
    }

    /// Ends the queue: what waits is still sent.
    func finish() {
        state.withLock { $0.isFinished = true }
        wake()
    }

    /// Ends the connection without a close frame, once what waits is sent.
    func cut() {
        state.withLock { $0.isCut = true }
        wake()
    }

    /// Indicates whether a close frame was added.
    var isClosing: Bool { state.withLock { $0.isClosing } }
    var isCut: Bool { state.withLock { $0.isCut } }
    /// The number of bytes that wait.
    var size: Int { state.withLock { $0.size } }

    /// Takes the next frame to send.
    func next() -> OutgoingFrame? {
        state.withLock { state in
            let frame = state.frames.popFirst()
            state.size -= frame?.bytes.count ?? 0
            state.isWaiting = frame == nil
            return frame
        }
    }
}
