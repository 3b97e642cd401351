#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// What can be done with a socket.
struct SocketEvents: OptionSet {
    let rawValue: UInt32

    static let readable = SocketEvents(rawValue: EPOLLIN.rawValue)
    static let writable = SocketEvents(rawValue: EPOLLOUT.rawValue)
    /// The connection is no more. Told also when nobody asked.
    static let gone = SocketEvents(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// Watches the sockets of a loop: with epoll, of which libwebsockets gets to see the one descriptor.
///
/// Its own poll asks the kernel about every socket in every turn: with 5,000 connections a message costs as much as 5,000.
final class SocketPoller {
    /// Readable when one of the sockets has something to tell; whoever watches it owns it.
    let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    /// How many sockets have their turn before commands and timers have theirs.
    private var ready = [epoll_event](repeating: epoll_event(), count: 256)

    /// Begins to watch a socket; ends when that is closed.
    func add(_ socket: Int32, as number: StreamNumber, for events: SocketEvents) throws(SystemError) {
        guard control(EPOLL_CTL_ADD, socket, number, events) == 0 else { throw .last }
    }

    /// Changes what a socket is watched for.
    func change(_ socket: Int32, as number: StreamNumber, for events: SocketEvents) {
        _ = control(EPOLL_CTL_MOD, socket, number, events)
    }

    /// Calls `body` with what happened, if anything did; whether that was all.
    func forEachReady(_ body: (StreamNumber, SocketEvents) -> Void) -> Bool {
        let count = Int(epoll_wait(descriptor, &ready, Int32(ready.count), 0))
        for index in 0..<max(0, count) {
            body(StreamNumber(ready[index].data.u64), SocketEvents(rawValue: ready[index].events))
        }
        return count >= 0 && count < ready.count
    }

    private func control(_ operation: Int32, _ socket: Int32, _ number: StreamNumber, _ events: SocketEvents) -> Int32 {
        var event = epoll_event()
        event.events = events.rawValue
        event.data.u64 = UInt64(number)
        return epoll_ctl(descriptor, operation, socket, &event)
    }
}
#endif
