#if os(Linux)
import Glibc
@testable import TestSupport

enum Delivery {
    /// Returns once the system at the other end, which must be on this machine, has all sent bytes, or after a very long time.
    static func waitUntilArrived(from descriptor: Int32) {
        var polled = pollfd(fd: descriptor, events: 0, revents: 0)
        var turns = 0
        while turns < 1000 * Patience.seconds, Sockets.unacknowledged(descriptor) > 0, poll(&polled, 1, 1) == 0 { turns += 1 }
    }
}
#endif
