#if os(Linux)

/// One request and its one response. Confined to the loop's thread.
final class HTTPExchange {
    typealias Result = Swift.Result<HTTPResponse, HTTPFailure>

    let request: HTTPRequest
    let route: Route
    /// Indicates whether the request needs a new connection, because the one that was kept for it turned out to be gone.
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

    /// Indicates whether the outcome was reported.
    var isFinished: Bool { completion == nil }

    /// Starts the time limit for the whole request.
    func setDeadline(_ action: @escaping () -> Void) {
        timer.set(after: request.timeout, action)
    }

    /// Reports the outcome, once; later ones are ignored.
    func end(_ result: Result) {
        timer.cancel()  // not a mutant: without it, the request is kept until its time-out, which nobody hears
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}
#endif
