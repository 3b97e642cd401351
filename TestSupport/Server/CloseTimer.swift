#if LocalServer
import FlyingFox
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A timer that limits how long a client has to read the last messages on its WebSocket and to reply to the close frame.
///
/// It cuts a client that doesn't read while there is more to send, because FlyingFox waits for buffer space and can't be
/// cancelled. A client that reads gets everything, however late the server sends it.
final class CloseTimer: Sendable {
    /// The progress of the close frame.
    private enum Progress {
        case none
        /// The frame waits to be sent; nothing may follow it.
        case waiting
        case taken
        /// Only the client's reply is missing.
        case sent
    }

    private struct State {
        /// A copy of the connection's descriptor, for its reader to wait on and for cutting the connection.
        var copy: Int32?
        var readerWaits = false
        var action: (any ScheduledAction)?
        var progress = Progress.none
        /// Indicates whether a frame was sent since the last check.
        var isReading = false
        /// Set once nothing more is sent.
        var isOver = false

        /// Closes the copy of the descriptor when nothing needs it anymore.
        mutating func tidy() {
            guard isOver, !readerWaits, let copy else { return }
            close(copy)
            self.copy = nil
        }
    }

    private let time: Duration
    private let scheduler: any Scheduler
    private let state = Locked(State())

    /// - Parameters:
    ///   - time: The longest time in which nothing is sent, and the time that the client has to reply.
    ///   - scheduler: The scheduler, which only the timer's tests set. Otherwise the timer runs in real time, whatever the
    ///     server's scheduler.
    init(_ time: Duration, scheduler: any Scheduler = LiveScheduler()) {
        self.time = time
        self.scheduler = scheduler
    }

    deinit {
        finish()
    }

    // MARK: Closing

    /// Indicates whether a close frame was given to be sent.
    var isClosing: Bool { state.withLock { $0.progress != .none } }

    /// Starts the timer, because the close frame waits to be sent.
    /// - Parameter end: A closure that cancels the connection's reader.
    func start(_ end: @escaping @Sendable () -> Void) {
        state.withLock { state in
            // The frame may already have been taken.
            if state.progress == .none { state.progress = .waiting }
            restart(&state, end)
        }
    }

    /// Restarts the timer when nothing reads the client's messages anymore, for the messages that still wait to be sent.
    func readerEnded() {
        state.withLock { if !$0.isOver { restart(&$0) {} } }
    }

    private func restart(_ state: inout State, _ end: @escaping @Sendable () -> Void) {
        state.action?.cancel()
        state.isReading = false
        // A client that reads slowly isn't waited for indefinitely.
        let now = scheduler.now
        schedule(now + time, latest: now + max(time * 10, .seconds(10)), end, &state)
    }

    private func schedule(_ instant: Instant, latest: Instant, _ end: @escaping @Sendable () -> Void, _ state: inout State) {
        state.action = scheduler.schedule(at: instant, label: "close of a WebSocket") { [weak self] in
            self?.expired(latest: latest, end)
        }
    }

    private func expired(latest: Instant, _ end: @escaping @Sendable () -> Void) {
        let isTime = state.withLock { state in
            guard !state.isOver else { return false }
            guard state.progress != .sent else { return true }
            let now = scheduler.now
            let isReading = state.isReading || (state.copy.map(Self.hasRoom) ?? true)
            state.isReading = false
            if isReading, now < latest {
                schedule(now + max(time, .milliseconds(10)), latest: latest, end, &state)
                return false
            }
            if let copy = state.copy { shutdown(copy, Int32(SHUT_WR)) }
            return true
        }
        if isTime { end() }
    }

    /// Returns whether the socket has room. If it has, nothing waits for the client to read, and the server's frames are still on
    /// their way to the socket.
    private static func hasRoom(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    // MARK: Sending

    /// Returns the next frame to send, or `nil` if there are no more. Asking for it means that the previous frame has been sent.
    func next(of frames: AsyncStream<WSFrame>) async -> WSFrame? {
        state.withLock { state in
            state.isReading = true
            if state.progress == .taken { state.progress = .sent }
        }
        guard let frame = await frames.first(where: { _ in true }) else {
            finish()
            return nil
        }
        if frame.opcode == .close { state.withLock { $0.progress = .taken } }
        return frame
    }

    private func finish() {
        state.withLock { state in
            state.action?.cancel()
            state.action = nil
            state.isOver = true
            state.tidy()
        }
    }

    // MARK: Reading

    /// Returns the copy of the descriptor for the reader to wait on, or a negative number if it can't be copied.
    func beginWaiting(on descriptor: Int32) -> Int32 {
        state.withLock { state in
            let copy = state.copy ?? Sockets.copy(of: descriptor)
            guard copy >= 0 else { return copy }
            state.copy = copy
            state.readerWaits = true
            return copy
        }
    }

    func endWaiting() {
        state.withLock { state in
            state.readerWaits = false
            state.tidy()
        }
    }
}
#endif
