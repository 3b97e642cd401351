#if os(Linux)
import Glibc
import TestSupport

/// A condition of a descriptor, as the system reports it.
enum Readiness {
    case readable, writable, gone

    /// Returns whether the condition holds now.
    func holds(for descriptor: Int32) -> Bool { look(at: descriptor, milliseconds: 0) }

    /// Returns when the condition holds; `false` if that takes too long.
    func wait(for descriptor: Int32) -> Bool { look(at: descriptor, milliseconds: 1000 * Int32(Patience.seconds)) }

    private func look(at descriptor: Int32, milliseconds: Int32) -> Bool {
        let events =
            switch self {
            case .readable: Int16(POLLIN)
            case .writable: Int16(POLLOUT)
            // Reported in any case.
            case .gone: Int16(0)
            }
        let sought = self == .gone ? Int16(POLLERR | POLLHUP) : events
        var polled = pollfd(fd: descriptor, events: events, revents: 0)
        return poll(&polled, 1, milliseconds) == 1 && polled.revents & sought != 0
    }
}
#endif
