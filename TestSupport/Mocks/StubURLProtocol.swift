import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MockSession {
    /// Returns a configuration for code that makes its requests with a real `URLSession`. Only this session responds to them.
    ///
    /// ```swift
    /// let urlSession = URLSession(configuration: session.urlSessionConfiguration())
    /// ```
    ///
    /// On Linux, data tasks work, with a completion handler, a delegate, or `await`. These don't: `URLSession.shared`, WebSocket
    /// tasks, and download tasks, which end the process. A redirect is a response like any other. The body of an upload task and
    /// the configuration's `httpAdditionalHeaders` can't be seen; the request's headers can.
    public func urlSessionConfiguration() -> URLSessionConfiguration {
        StubURLProtocols.configuration { [weak self] in self }
    }
}

/// The sessions behind the protocol classes.
///
/// `URLSession` takes a class, not an object, and doesn't tell it which session it works for. Every mock session therefore gets
/// its own class, a specialization for a number. No class is used twice: a `URLSession` that outlives its mock must not reach
/// another mock. This is the only thing that tests share, and no test can see another's.
enum StubURLProtocols {
    /// A closure that returns a session; `nil` if it is gone.
    typealias Source = @Sendable () -> (any HTTPSession)?

    private static let entries = Locked<[(source: Source, queue: DispatchQueue)]>([])

    /// Returns a configuration whose requests a session responds to. `source` must not keep the session alive.
    static func configuration(_ source: @escaping Source) -> URLSessionConfiguration {
        let number = entries.withLock { entries in
            entries.append((source, DispatchQueue(label: "requests of a mock session")))
            return entries.count - 1
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [specialize(Binary.End.self, number: number, left: number)]
        return configuration
    }

    fileprivate static func session(_ number: Int) -> (any HTTPSession)? {
        entries.withLock { $0[number].source }()
    }

    fileprivate static func queue(_ number: Int) -> DispatchQueue { entries.withLock { $0[number].queue } }

    /// Returns the class whose parameter spells the number in binary digits, the most significant digit outermost.
    private static func specialize<Number: BinaryNumber>(_: Number.Type, number: Int, left: Int) -> URLProtocol.Type {
        guard left > 0 else { return StubURLProtocol<Number>.self }
        return left.isMultiple(of: 2)
            ? specialize(Binary.Zero<Number>.self, number: number, left: left / 2)
            : specialize(Binary.One<Number>.self, number: number, left: left / 2)
    }
}

/// A number as a type.
private protocol BinaryNumber: SendableMetatype {
    static var value: Int { get }
    /// The place value of the next digit.
    static var weight: Int { get }
}

private enum Binary {
    enum End: BinaryNumber {
        static var value: Int { 0 }
        static var weight: Int { 1 }
    }
    enum Zero<Rest: BinaryNumber>: BinaryNumber {
        static var value: Int { Rest.value }
        static var weight: Int { 2 * Rest.weight }
    }
    enum One<Rest: BinaryNumber>: BinaryNumber {
        static var value: Int { Rest.value + Rest.weight }
        static var weight: Int { 2 * Rest.weight }
    }
}

/// A URL protocol that forwards a `URLSession`'s requests to one of our sessions.
private final class StubURLProtocol<Number: BinaryNumber>: URLProtocol {
    /// The order of a session's requests.
    private static var queue: DispatchQueue { StubURLProtocols.queue(Number.value) }

    private let loading = Locked(Loading())

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    #if canImport(FoundationNetworking)
    /// The receiver of the outcome; `nil` once it has one. Foundation tells it of a cancellation even if the request has already
    /// ended, and ends the process if that is the second outcome.
    override var client: (any URLProtocolClient)? {
        get { loading.withLock { $0.end == .outcome } ? nil : super.client }
        set { super.client = newValue }
    }
    #endif

    /// Foundation calls this on a queue that whoever cancels a task waits for, with that task locked. A completion on that queue
    /// would resume the task, and so wait for the one that cancels it. That is why all that follows happens on another queue.
    override func startLoading() {
        let caller = URLProtocolCaller(urlProtocol: self, client: client)
        Self.queue.async { [loading, request] in
            let finish: MockTask.Completion = { data, response, error in
                guard loading.withLock({ $0.end(with: .outcome) }) else { return }
                caller.finish(data, response, error)
            }
            guard let session = StubURLProtocols.session(Number.value) else { return finish(nil, nil, URLError(.cancelled)) }
            let reply: any HTTPTask = session.dataTask(with: request, completionHandler: finish)
            if loading.withLock({ $0.keep(reply) }) { reply.resume() }
        }
    }

    override func stopLoading() {
        let reply = loading.withLock { loading in
            defer { _ = loading.end(with: .stop) }
            return loading.reply
        }
        reply?.cancel()
    }
}

/// A request under way, which ends once.
private struct Loading: Sendable {
    enum End { case outcome, stop }

    private(set) var reply: (any HTTPTask)?
    private(set) var end: End?

    /// Keeps the task that makes the request. Returns `false` if Foundation has already given the request up.
    mutating func keep(_ reply: any HTTPTask) -> Bool {
        if end == nil { self.reply = reply }
        return end == nil
    }

    /// Returns whether this is the first end. The task isn't kept afterward: Foundation doesn't stop a finished request, so the
    /// two would keep each other alive.
    mutating func end(with end: End) -> Bool {
        reply = nil
        guard self.end == nil else { return false }
        self.end = end
        return true
    }
}

/// The caller that reports a request's outcome to Foundation.
///
/// `@unchecked Sendable`: Foundation takes these calls from any thread; they come once, from the code that completes the request.
private struct URLProtocolCaller: @unchecked Sendable {
    let urlProtocol: URLProtocol
    let client: (any URLProtocolClient)?

    func finish(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        if let error {
            client?.urlProtocol(urlProtocol, didFailWithError: error)
            return
        }
        if let response { client?.urlProtocol(urlProtocol, didReceive: response, cacheStoragePolicy: .notAllowed) }
        // Deliver the data in one piece: of several pieces, Foundation on Linux gives a completion handler only the last one.
        if let data { client?.urlProtocol(urlProtocol, didLoad: data) }
        client?.urlProtocolDidFinishLoading(urlProtocol)
    }
}
