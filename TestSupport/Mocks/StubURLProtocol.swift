import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MockSession {
    /// A configuration for code that makes its requests with a real `URLSession`: this session answers them, no other one does.
    ///
    /// ```swift
    /// let urlSession = URLSession(configuration: session.urlSessionConfiguration())
    /// ```
    ///
    /// Linux allows data tasks, with a completion handler, a delegate or `await`. Not there: `URLSession.shared`, web
    /// socket tasks, and download tasks, which end the process. A redirect is a response like any other. The body of an upload
    /// task and the configuration's `httpAdditionalHeaders` can't be seen; those of the request can.
    public func urlSessionConfiguration() -> URLSessionConfiguration {
        StubURLProtocols.configuration { [weak self] in self }
    }
}

/// Which session stands behind which protocol class.
///
/// `URLSession` takes a class, not an object, and tells it nothing about the session it works for; so every mock session gets a
/// class of its own, a specialization for a number. No class is used twice: a `URLSession` that outlives its mock must not reach
/// somebody else's. This is the one thing that tests share, and none can see another's.
enum StubURLProtocols {
    /// The way to a session; `nil` where it is gone.
    typealias Source = @Sendable () -> (any HTTPSession)?

    private static let entries = Locked<[Source]>([])

    /// A configuration whose requests a session answers, which must not be kept by `source`.
    static func configuration(_ source: @escaping Source) -> URLSessionConfiguration {
        let number = entries.withLock { entries in
            entries.append(source)
            return entries.count - 1
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [specialize(Binary.End.self, number: number, left: number)]
        return configuration
    }

    fileprivate static func session(_ number: Int) -> (any HTTPSession)? {
        entries.withLock { $0[number] }()
    }

    /// The class whose parameter spells the number in binary digits, last digit outermost.
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

/// Answers a `URLSession`'s requests from a session of ours.
private final class StubURLProtocol<Number: BinaryNumber>: URLProtocol {
    private struct Loading {
        let reply: any HTTPTask
        let caller: URLProtocolCaller
    }

    private let loading = Locked<Loading?>(nil)

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let caller = URLProtocolCaller(urlProtocol: self)
        guard let session = StubURLProtocols.session(Number.value) else {
            return caller.finish(nil, nil, URLError(.cancelled))
        }
        let reply: any HTTPTask = session.dataTask(with: request) { [loading] data, response, error in
            caller.finish(data, response, error)
            // Foundation doesn't stop what has finished: the two would keep each other.
            loading.withLock { $0 = nil }
        }
        loading.withLock { $0 = Loading(reply: reply, caller: caller) }
        reply.resume()
    }

    override func stopLoading() {
        guard let loading = loading.withLock({ $0.take() }) else { return }
        loading.caller.stop()
        loading.reply.cancel()
    }
}

/// Tells Foundation the outcome of a request.
///
/// `@unchecked Sendable`: Foundation takes these calls from any thread; they come once, from whoever completes the request.
private struct URLProtocolCaller: @unchecked Sendable {
    let urlProtocol: URLProtocol
    /// Indicates whether the request has ended, one way or the other.
    private let isOver = Locked(false)

    init(urlProtocol: URLProtocol) {
        self.urlProtocol = urlProtocol
    }

    /// Nothing may be told from now on: Foundation has given the request up.
    func stop() {
        isOver.withLock { $0 = true }
    }

    func finish(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { return }
        let client = urlProtocol.client
        if let error {
            client?.urlProtocol(urlProtocol, didFailWithError: error)
            return
        }
        if let response { client?.urlProtocol(urlProtocol, didReceive: response, cacheStoragePolicy: .notAllowed) }
        // In one piece: of several, Foundation on Linux gives a completion handler the last one only.
        if let data { client?.urlProtocol(urlProtocol, didLoad: data) }
        client?.urlProtocolDidFinishLoading(urlProtocol)
    }
}
