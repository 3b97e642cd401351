import Darwin
import Dispatch
import Glibc

/// Runs an action when the last closure that holds this object is gone.
package final class AtItsEnd: Sendable {
    private let action: @Sendable () -> Void

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    deinit {
        action()
    }
}

/// Runs `body` on another thread, and returns whether it finishes in time. It never does if it waits for a lock that it holds.
package func isDone(within seconds: Int = 20, _ body: @escaping @Sendable () -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "is done").async {
        body()
        done.signal()
    }
    return done.wait(timeout: .now() + .seconds(seconds)) == .success
}

#if canImport(Glibc)
#elseif canImport(Darwin)
#endif

/// Repeats a system call for as long as it is interrupted. Stopping and resuming a process, as a debugger does, ends calls that
/// wait with a time-out.
public func uninterrupted(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
