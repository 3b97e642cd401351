#if canImport(CLibwebsockets)

/// One request on its way to its one answer. Lives on the loop's thread.
final class HTTPExchange {
    typealias Answer = Result<HTTPResponse, HTTPFailure>

    /// How often it was sent.
    enum Attempt {
        /// Not yet, or once.
        case first
        /// Again, because the connection that was kept for it turned out to be gone: now on one of its own.
        case second
    }

    let request: HTTPRequest
    var attempt = Attempt.first
    /// Where it waits or is under way.
    weak var lane: ConnectionPool?
    private let timer: LoopTimer
    private var completion: ((Answer) -> Void)?

    init(_ request: HTTPRequest, timer: LoopTimer, completion: @escaping (Answer) -> Void) {
        self.request = request
        self.timer = timer
        self.completion = completion
    }

    /// Starts the time for all of it.
    func setDeadline(_ action: @escaping () -> Void) {
        timer.set(after: request.timeout, action)
    }

    /// Answers, once: whatever comes later is ignored.
    func end(_ answer: Answer) {
        timer.cancel()
        let completion = completion
        self.completion = nil
        completion?(answer)
    }
}
#endif
