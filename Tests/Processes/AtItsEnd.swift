import Dispatch

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
