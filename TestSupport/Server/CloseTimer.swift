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

/// The time that a client has for the last that is sent on its WebSocket: to read it, and to answer the close frame.
///
/// Cuts a client that doesn't read though there is more to send: FlyingFox waits for room, and can't be called off. A client that reads
/// gets all of it, however late the server comes to send it.
final class CloseTimer: Sendable {
    /// Of the close frame.
    private enum Progress {
        case none
        /// It waits to be sent: nothing may follow it.
        case waiting
        case taken
        /// All that is missing is the answer.
        case sent
    }

    private struct State {
        /// The connection's, for its reader to wait on, and to cut the connection.
        var copy: Int32?
        var readerWaits = false
        var action: (any ScheduledAction)?
        var progress = Progress.none
        /// Indicates whether a frame was sent since the last look.
        var isReading = false
        /// Set once nothing more is sent.
        var isOver = false

        /// Lets go of the descriptor when nobody needs it.
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
    ///   - time: The time for which nothing may be sent, and that the client has to reply.
    ///   - scheduler: For tests of its own: in real time whatever the server's scheduler is.
    init(_ time: Duration, scheduler: any Scheduler = LiveScheduler()) {
        self.time = time
        self.scheduler = scheduler
    }

    deinit {
        finish()
    }

    // MARK: The end

    /// Indicates whether a close frame was given to be sent.
    var isClosing: Bool { state.withLock { $0.progress != .none } }

    /// The close frame waits to be sent.
    /// - Parameter end: Calls off the connection's reader.
    func start(_ end: @escaping @Sendable () -> Void) {
        state.withLock { state in
            // It may have been taken already.
            if state.progress == .none { state.progress = .waiting }
            restart(&state, end)
        }
    }

    /// Nobody reads any more what the client sends. Messages that still wait to be sent have their time.
    func readerEnded() {
        state.withLock { if !$0.isOver { restart(&$0) {} } }
    }

    private func restart(_ state: inout State, _ end: @escaping @Sendable () -> Void) {
        state.action?.cancel()
        state.isReading = false
        // Who reads, but slowly, isn't waited for without an end.
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

    /// Indicates whether nothing waits for the client to read: what the server has for it is only on its way there.
    private static func hasRoom(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    // MARK: Sending

    /// Returns the frame that is sent next: who asks for it has sent the one before. Nil where there is none.
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

    /// Returns the copy of a descriptor on which the reader waits now; negative where there can be none.
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
