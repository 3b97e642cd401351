#if LocalServer
import FlyingSocks
import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Settings of a task that waits for a socket.
enum SocketPoolSettings {
    /// Indicates whether nothing more is sent. If so, the peer is sent a FIN before the task waits.
    @TaskLocal static var endsWriting = false
    /// The timer that ends the connection if its client doesn't read. It has the copy of the connection's descriptor.
    @TaskLocal static var closeTimer: CloseTimer?
}

#if canImport(Darwin)
extension AsyncSocketPool where Self == SocketPool<kQueue> {
    static func lasting(_ listener: ListenerCopy) -> Self { .kQueue() }
}
#else
/// Waits on copies of file descriptors.
///
/// FlyingFox 0.27.1 closes a connection when writing to it fails, even if a task still waits to read from it. Its epoll queue
/// then can't deregister the descriptor, remembers it as registered, and never watches the next connection that gets the same
/// number: a client that resets its connection while something is sent to it makes a later client hang. A copy is never closed
/// while a task waits on it.
///
/// The pool also makes its sockets send responses at once. FlyingFox writes head and body separately, so the body would otherwise
/// wait for the client's acknowledgment of the head: 40 ms for each request on a connection that is kept open.
struct LastingSocketPool<Queue: EventQueue>: AsyncSocketPool {
    let base: SocketPool<Queue>
    let listener: ListenerCopy

    func prepare() async throws {
        try await base.prepare()
    }

    func run() async throws {
        try await base.run()
    }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try Task.checkCancellation()
        listener.keep(socket.file.rawValue)
        // If this fails, the response is slow, or the connection is gone, which shows elsewhere.
        try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        // Otherwise a child process would hold the port, or a connection whose client waits for its end.
        _ = fcntl(socket.file.rawValue, F_SETFD, FD_CLOEXEC)
        if SocketPoolSettings.endsWriting { shutdown(socket.file.rawValue, Int32(SHUT_WR)) }
        let closeTimer = SocketPoolSettings.closeTimer
        let copy = closeTimer?.beginWaiting(on: socket.file.rawValue) ?? Sockets.copy(of: socket.file.rawValue)
        guard copy >= 0 else { throw SocketError.makeFailed("Dup") }
        defer {
            if let closeTimer { closeTimer.endWaiting() } else { close(copy) }
        }
        do {
            try await base.suspendSocket(Socket(file: .init(rawValue: copy)), untilReadyFor: events)
        } catch {
            await base.settle()
            // The server is being stopped.
            if Sockets.isListening(copy) { listener.free() }
            throw error
        }
        await base.settle()
    }
}

extension SocketPool {
    /// Returns when the pool has finished its current job: it resumes a waiting task before it deregisters the descriptor, in one
    /// job of the actor.
    fileprivate func settle() {}
}

extension AsyncSocketPool where Self == LastingSocketPool<ePoll> {
    static func lasting(_ listener: ListenerCopy) -> Self { LastingSocketPool(base: .ePoll(), listener: listener) }
}
#endif
#endif
