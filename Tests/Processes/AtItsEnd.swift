import Dispatch

/// Does something when the last closure that holds it is gone.
package final class AtItsEnd: Sendable {
    private let action: @Sendable () -> Void

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    deinit {
        action()
    }
}

/// Runs something in a thread of its own; false if it isn't done in time: one that waits for a lock that it holds never comes back.
package func isDone(within seconds: Int = 20, _ body: @escaping @Sendable () -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "is done").async {
        body()
        done.signal()
    }
    return done.wait(timeout: .now() + .seconds(seconds)) == .success
}
