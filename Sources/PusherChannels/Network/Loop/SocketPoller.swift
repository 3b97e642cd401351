#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// Identifies one socket of a loop.
typealias SocketNumber = UInt

/// The events for which a socket can be watched.
struct SocketEvents: OptionSet {
    let rawValue: UInt32

    static let readable = SocketEvents(rawValue: EPOLLIN.rawValue)
    static let writable = SocketEvents(rawValue: EPOLLOUT.rawValue)
    /// The connection is gone. Reported even if nobody asked for it.
    static let gone = SocketEvents(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// Wakes a loop's thread, from any thread.
struct WakeUp: Sendable {
    fileprivate(set) var descriptor: Int32

    func callAsFunction() {
        eventfd_write(descriptor, 1)
    }
}

/// Watches a loop's sockets with epoll; libwebsockets sees only epoll's descriptor.
///
/// libwebsockets' own poll asks the kernel about every socket in every turn: with 5,000 connections, a message costs as much as
/// 5,000. Also, it silently does without its own wake-up if there is no descriptor for that.
final class SocketPoller {
    /// The descriptor that is readable when a socket has events or the loop is woken; its watcher owns it.
    let descriptor: Int32
    /// Ends a wait for the descriptor; usable as long as this poller exists.
    let wakeUp: WakeUp
    /// The events that are served before commands and timers have their turn.
    private var ready = [epoll_event](repeating: epoll_event(), count: 256)

    /// The number of the wake-up, which no socket has.
    private static let wakeUpNumber: SocketNumber = 0

    init() throws(SystemError) {
        let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { throw .last }
        let event = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard event >= 0 else {
            let error = SystemError.last
            close(poll)
            throw error
        }
        (descriptor, wakeUp) = (poll, WakeUp(descriptor: event))
        do throws(SystemError) {
            try add(event, as: Self.wakeUpNumber, for: .readable)
        } catch {
            close(poll)
            throw error
        }
    }

    deinit {
        close(wakeUp.descriptor)
    }

    /// Starts to watch a socket.
    func add(_ socket: Int32, as number: SocketNumber, for events: SocketEvents) throws(SystemError) {
        guard control(EPOLL_CTL_ADD, socket, number, events) == 0 else { throw .last }
    }

    /// Stops watching a socket. Closing it isn't enough, because a forked child that runs no other program still has it.
    func remove(_ socket: Int32) {
        epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, nil)
    }

    /// Changes the events for which a socket is watched.
    func change(_ socket: Int32, as number: SocketNumber, for events: SocketEvents) {
        _ = control(EPOLL_CTL_MOD, socket, number, events)
    }

    /// Calls `body` with each socket's events, if there are any.
    func forEachReady(_ body: (SocketNumber, SocketEvents) -> Void) {
        let count = Int(epoll_wait(descriptor, &ready, Int32(ready.count), 0))
        for index in 0..<max(0, count) {
            let number = SocketNumber(ready[index].data.u64)
            if number == Self.wakeUpNumber {
                var calls: eventfd_t = 0
                eventfd_read(wakeUp.descriptor, &calls)
            } else {
                body(number, SocketEvents(rawValue: ready[index].events))
            }
        }
    }

    private func control(_ operation: Int32, _ socket: Int32, _ number: SocketNumber, _ events: SocketEvents) -> Int32 {
        var event = epoll_event()
        event.events = events.rawValue
        event.data.u64 = UInt64(number)
        return epoll_ctl(descriptor, operation, socket, &event)
    }
}
#endif
