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
    /// On Linux, data tasks work, with a completion handler, a delegate, or `await`. These don't: WebSocket tasks, and download
    /// tasks, which end the process. A redirect is a response like any other. The body of an upload task and the configuration's
    /// `httpAdditionalHeaders` can't be seen; the request's headers can.
    public func urlSessionConfiguration() -> URLSessionConfiguration {
        StubURLProtocols.configuration { [weak self] in self }
    }

    /// Responds to the requests that `URLSession.shared` makes to these hosts, for code that can't be given another session. Its
    /// other requests go where they would go.
    ///
    /// Foundation on Linux copies what intercepts requests once, when the process makes its first `URLSession`. A harness or a mock
    /// session must therefore have been made before, or the first one is the process's last chance: too late is a finding. A host
    /// belongs to one mock session at a time, until that is gone or its harness has ended, so tests that intercept the same host
    /// are not run in parallel. Until another session intercepts the host, its requests then fail: they would reach the network
    /// unnoticed. Only those to `localhost` and `127.0.0.1` go where they would go.
    ///
    /// - Parameters:
    ///   - urlSession: `URLSession.shared`.
    ///   - hosts: The hosts, such as `api.example.com`, without port.
    /// - Throws: ``HostIsIntercepted`` if one of the hosts belongs to another mock session.
    public func intercept(_ urlSession: URLSession, hosts: String...) throws {
        try InterceptingURLProtocol.claim(hosts, for: self)
        #if canImport(FoundationNetworking)
        guard urlSession.configuration.protocolClasses?.first != InterceptingURLProtocol.self else { return }
        note(Finding(.error, "\(hosts.joined(separator: ", ")): the process made a URLSession before its first mock session"))
        #endif
    }
}

/// The error if a host's requests are intercepted for two mock sessions at once.
public struct HostIsIntercepted: Error, Equatable, CustomStringConvertible {
    /// The host.
    public let host: String

    /// The host, and what to do.
    public var description: String {
        "\(host) is intercepted by another mock session: run tests that intercept the same host one after the other (.serialized)"
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

    private static let entries = Locked<[Source]>([])

    /// Returns a configuration whose requests a session responds to. `source` must not keep the session alive.
    static func configuration(_ source: @escaping Source) -> URLSessionConfiguration {
        let number = entries.withLock { entries in
            entries.append(source)
            return entries.count - 1
        }
        InterceptingURLProtocol.register()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [specialize(Binary.End.self, number: number, left: number)]
        return configuration
    }

    fileprivate static func session(_ number: Int) -> (any HTTPSession)? {
        entries.withLock { $0[number] }()
    }

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

/// A URL protocol that forwards the requests of one `URLSession` to one of our sessions.
private final class StubURLProtocol<Number: BinaryNumber>: ForwardingURLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override var session: (any HTTPSession)? { StubURLProtocols.session(Number.value) }
}

/// A URL protocol that forwards the requests to some hosts, of every `URLSession` that knows it.
final class InterceptingURLProtocol: ForwardingURLProtocol {
    private struct Claim {
        weak var session: MockSession?
        /// Indicates whether the session's test has ended, so that another session may claim the host.
        var isOver = false
    }

    private static let claims = Locked<[Name: Claim]>([:])
    private static let isRegistered = URLProtocol.registerClass(InterceptingURLProtocol.self)

    /// Has Foundation know this class. Does something only in a process that has made no `URLSession` yet.
    static func register() { _ = isRegistered }

    fileprivate static func claim(_ hosts: [String], for session: MockSession) throws {
        register()
        try claims.withLock { claims in
            for host in hosts {
                guard let claim = claims[key(host)], !claim.isOver, let owner = claim.session, owner !== session else { continue }
                throw HostIsIntercepted(host: host)
            }
            for host in hosts { claims[key(host)] = Claim(session: session) }
        }
    }

    /// Gives the hosts of a session back, whose test has ended.
    static func release(_ session: MockSession) {
        claims.withLock { claims in
            for (host, claim) in claims where claim.session === session { claims[host]?.isOver = true }
        }
    }

    /// The hosts of real servers that other tests start.
    private static let thisMachine: Set<Name> = ["localhost", "127.0.0.1"]

    private static func key(_ host: String) -> Name { Name(host.lowercased()) }

    private static func session(for request: URLRequest) -> MockSession? {
        request.url?.host.flatMap { host in claims.withLock { $0[key(host)]?.session } }
    }

    /// A host whose claim is over is intercepted as well: what still asks for it has outlived its test, and must not reach the
    /// network.
    override class func canInit(with request: URLRequest) -> Bool {
        guard let host = request.url?.host.map(key), let claim = claims.withLock({ $0[host] }) else { return false }
        return !thisMachine.contains(host) || !claim.isOver && claim.session != nil
    }
    override var session: (any HTTPSession)? { Self.session(for: request) }
}

/// A URL protocol that forwards requests to one of our sessions.
class ForwardingURLProtocol: URLProtocol {
    private struct Loading {
        let reply: any HTTPTask
        let caller: URLProtocolCaller
    }

    private let loading = Locked<Loading?>(nil)

    /// The session; `nil` if it is gone.
    var session: (any HTTPSession)? { nil }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let caller = URLProtocolCaller(urlProtocol: self)
        guard let session else {
            return caller.finish(nil, nil, URLError(.cancelled))
        }
        let reply: any HTTPTask = session.dataTask(with: request) { [loading] data, response, error in
            caller.finish(data, response, error)
            // Foundation doesn't stop a finished request, so the two would keep each other alive.
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

/// The caller that reports a request's outcome to Foundation.
///
/// `@unchecked Sendable`: Foundation takes these calls from any thread; they come once, from the code that completes the request.
private struct URLProtocolCaller: @unchecked Sendable {
    let urlProtocol: URLProtocol
    /// Indicates whether the request has ended, one way or the other.
    private let isOver = Locked(false)

    init(urlProtocol: URLProtocol) {
        self.urlProtocol = urlProtocol
    }

    /// Prevents all later calls, because Foundation has given the request up.
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
        // Deliver the data in one piece: of several pieces, Foundation on Linux gives a completion handler only the last one.
        if let data { client?.urlProtocol(urlProtocol, didLoad: data) }
        client?.urlProtocolDidFinishLoading(urlProtocol)
    }
}
