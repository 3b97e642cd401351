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

/// The time that a client has for the close frame of a WebSocket: to read it, and to answer. In real time whatever the server's scheduler is.
///
/// Who doesn't read is cut though the frame can't be sent: FlyingFox waits for room, and can't be called off. Who does gets it, however
/// late the server comes to send it.
final class CloseTimer: Sendable {
    /// Of the close frame.
    private enum Progress {
        case waiting
        case taken
        /// All that is missing is the answer.
        case sent
    }

    private struct State {
        /// The connection's, while its reader waits on it.
        var descriptor: Int32?
        /// Set from the close frame until the connection ends.
        var action: (any ScheduledAction)?
        var progress = Progress.waiting
    }

    private let time: Duration
    private let state = Locked(State())
    private let scheduler = LiveScheduler()

    init(_ time: Duration) {
        self.time = time
    }

    /// Indicates whether the close frame waits to be sent or answered: nothing may follow it.
    var isRunning: Bool { state.withLock { $0.action != nil } }

    /// The close frame waits to be sent.
    /// - Parameter end: Calls off the connection's reader.
    func start(_ end: @escaping @Sendable () -> Void) {
        let now = scheduler.now
        // Who reads, but slowly, isn't waited for without an end.
        state.withLock { schedule(now + time, latest: now + max(time * 10, .seconds(10)), end, &$0) }
    }

    func cancel() {
        state.withLock { state in
            state.action?.cancel()
            state.action = nil
        }
    }

    /// Returns the frame that is sent next: who asks for it has sent the one before.
    func next(of frames: AsyncStream<WSFrame>) async -> WSFrame? {
        state.withLock { if $0.progress == .taken { $0.progress = .sent } }
        let frame = await frames.first { _ in true }
        if frame?.opcode == .close { state.withLock { $0.progress = .taken } }
        return frame
    }

    private func schedule(_ instant: Instant, latest: Instant, _ end: @escaping @Sendable () -> Void, _ state: inout State) {
        state.action = scheduler.schedule(at: instant, label: "close of a WebSocket") { [weak self] in
            self?.expired(latest: latest, end)
        }
    }

    private func expired(latest: Instant, _ end: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            guard state.action != nil else { return false }
            let now = scheduler.now
            let isSent = state.progress == .sent
            if !isSent, now < latest, state.descriptor.map(Self.hasRoom) ?? true {
                schedule(now + max(time, .milliseconds(10)), latest: latest, end, &state)
                return false
            }
            if !isSent, let descriptor = state.descriptor { shutdown(descriptor, Int32(SHUT_WR)) }
            return true
        }
        if isOver { end() }
    }

    /// Indicates whether the client reads: what the server has for it is only on its way there.
    private static func hasRoom(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    // MARK: The reader

    /// The reader waits on this descriptor.
    func begin(_ descriptor: Int32) {
        state.withLock { $0.descriptor = descriptor }
    }

    func stop() {
        state.withLock { $0.descriptor = nil }
    }
}
#endif
