import Dispatch
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session that calls another one on a separate queue.
///
/// On Linux, all of Foundation's sessions share a queue. They call protocol classes on it, and wait for it when they are called.
/// A session that is called by another one's protocol class would therefore wait for itself, and end the process.
struct AsideSession: HTTPSession {
    private let base: any HTTPSession

    init(_ base: any HTTPSession) {
        self.base = base
    }

    func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> AsideTask {
        AsideTask { [base] in base.dataTask(with: request, completionHandler: completionHandler) }
    }
}

/// One request of an ``AsideSession``. Its calls are made in order.
final class AsideTask: HTTPTask {
    private let queue = DispatchQueue(label: "request aside")
    private let task = Locked<(any HTTPTask)?>(nil)

    init(_ make: @escaping @Sendable () -> any HTTPTask) {
        queue.async { [task] in
            let made = make()
            task.withLock { $0 = made }
        }
    }

    func resume() {
        queue.async { [task] in task.withLock { $0 }?.resume() }
    }

    func cancel() {
        queue.async { [task] in task.withLock { $0 }?.cancel() }
    }
}
