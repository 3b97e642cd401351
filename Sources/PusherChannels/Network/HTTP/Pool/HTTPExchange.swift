#if os(Linux)

/// One request on its way to its one response. Lives on the loop's thread.
final class HTTPExchange {
    typealias Result = Swift.Result<HTTPResponse, HTTPFailure>

    let request: HTTPRequest
    let route: Route
    /// True if it needs a connection of its own, because the one that was kept for it turned out to be gone.
    var needsNewConnection = false
    /// The pool in which it waits or is under way.
    weak var pool: ConnectionPool?
    private let timer: LoopTimer
    private var completion: ((Result) -> Void)?

    init(_ request: HTTPRequest, over route: Route, timer: LoopTimer, completion: @escaping (Result) -> Void) {
        self.request = request
        self.route = route
        self.timer = timer
        self.completion = completion
    }

    /// Indicates whether it was reported what came of it.
    var isOver: Bool { completion == nil }

    /// Starts the time for all of it.
    func setDeadline(_ action: @escaping () -> Void) {
        timer.set(after: request.timeout, action)
    }

    /// Reports what came of it, once: whatever comes later is ignored.
    func end(_ result: Result) {
        timer.cancel()
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}
#endif
