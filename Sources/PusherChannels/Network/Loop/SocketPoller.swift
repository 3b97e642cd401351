#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// Names one socket of a loop.
typealias SocketNumber = UInt

/// The things that can be done with a socket.
struct SocketEvents: OptionSet {
    let rawValue: UInt32

    static let readable = SocketEvents(rawValue: EPOLLIN.rawValue)
    static let writable = SocketEvents(rawValue: EPOLLOUT.rawValue)
    /// The connection is no more. Told also when nobody asked.
    static let gone = SocketEvents(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// Wakes a loop's thread; from any thread.
struct WakeUp: Sendable {
    fileprivate(set) var descriptor: Int32

    func callAsFunction() {
        eventfd_write(descriptor, 1)
    }
}

/// Watches the sockets of a loop: with epoll, of which libwebsockets gets to see the one descriptor.
///
/// Its own poll asks the kernel about every socket in every turn: with 5,000 connections a message costs as much as 5,000. And it does
/// without its own wake-up, and without a word, if there is no descriptor for that.
final class SocketPoller {
    /// Readable when one of the sockets has something to tell, or the loop is woken; its watcher owns it.
    let descriptor: Int32
    /// Ends a wait for the descriptor, for as long as this is there.
    let wakeUp: WakeUp
    /// The sockets that have their turn before commands and timers have theirs.
    private var ready = [epoll_event](repeating: epoll_event(), count: 256)

    /// No socket has it.
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

    /// Begins to watch a socket.
    func add(_ socket: Int32, as number: SocketNumber, for events: SocketEvents) throws(SystemError) {
        guard control(EPOLL_CTL_ADD, socket, number, events) == 0 else { throw .last }
    }

    /// Ends that. To close the socket isn't enough: a child that was forked, and runs nothing else, has it too.
    func remove(_ socket: Int32) {
        epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, nil)
    }

    /// Changes what a socket is watched for.
    func change(_ socket: Int32, as number: SocketNumber, for events: SocketEvents) {
        _ = control(EPOLL_CTL_MOD, socket, number, events)
    }

    /// Calls `body` with what happened, if anything did.
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
