#if os(Linux)
import Foundation
import FoundationNetworking

/// Makes HTTP requests with the TLS and proxy settings that connections have. ``DefaultTransport`` uses it on Linux, where
/// FoundationNetworking's `URLSession` has settings for neither.
///
/// HTTP/1.1 without cookies, caches and decompression. Redirects are returned like other responses, because requests for
/// authorizations carry data that is meant for one server only; so is 401, whatever it asks for. Connections are kept for further
/// requests, at most six to a server, for half a minute; more requests wait for their turn. If a request is sent over a kept
/// connection, and the server closes that before any response, the request is sent once more, on a new connection, provided that
/// it is idempotent or wasn't sent whole; other requests, such as POST, may have been carried out, and fail with
/// `networkConnectionLost`. All the time that a request takes counts for its `timeoutInterval`. Bodies have 16 MiB at most.
///
/// Errors are `URLError`s that say what happened, and to whom; ``TransportError/init(_:)`` returns the failure behind one. A
/// session may be used from any thread. Completion handlers are called on the loop's thread; one that blocks holds up everything
/// that the loop serves. Those of bodies with more than 16 KiB, which may take long to read, are called on another thread, one
/// after the other.
public final class NetworkHTTPSession: RoutedHTTPSession {
    /// The size of a body in bytes beyond which its response is handed over on another thread.
    static let largeSize = 16 << 10

    private let tls: TLSConfiguration
    private let proxy: ProxyConfiguration
    private let pool: SharedConnections

    /// Creates a session with its own connections, which are closed when the session, its tasks and the sessions from
    /// ``routed(tls:proxy:)`` are gone.
    public convenience init(
        tls: TLSConfiguration = TLSConfiguration(), proxy: ProxyConfiguration = .environment, loop: NetworkLoop = .shared
    ) {
        self.init(tls: tls, proxy: proxy, loop: loop, resolve: { AddressResolver.shared.resolve($0, completion: $1) })
    }

    convenience init(
        tls: TLSConfiguration = TLSConfiguration(), proxy: ProxyConfiguration = .environment, loop: NetworkLoop = .shared,
        resolve: @escaping AddressResolver.Resolve
    ) {
        self.init(tls: tls, proxy: proxy, pool: SharedConnections(loop: loop, resolve: resolve))
    }

    private init(tls: TLSConfiguration, proxy: ProxyConfiguration, pool: SharedConnections) {
        self.tls = tls
        self.proxy = proxy
        self.pool = pool
    }

    /// Returns a session with other settings, which shares connections with this one if the settings are the same.
    public func routed(tls: TLSConfiguration, proxy: ProxyConfiguration) -> any HTTPSession {
        NetworkHTTPSession(tls: tls, proxy: proxy, pool: pool)
    }

    /// Prepares a request; nothing happens before the task's `resume()`. A request that can't be sent, such as one with a body
    /// from a stream, is reported then.
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> NetworkHTTPTask {
        let checked: Result<HTTPRequest, HTTPFailure>
        do throws(HTTPFailure) {
            checked = .success(try HTTPRequest(request))
        } catch {
            checked = .failure(error)
        }
        let key = pool.loop.makeKey()
        return NetworkHTTPTask(
            key: key, loop: pool.loop,
            cancelled: { _ in
                let failure = TransportError(.cancelled, "The request was cancelled before it began")
                Self.hand(over: .failure(HTTPFailure(failure)), to: completionHandler)
            },
            started: { [tls, proxy, pool] loop in
                switch checked {
                case .success(let request):
                    let performElsewhere = loop.environment.performElsewhere
                    loop.service(HTTPClient.self).start(request, key: key, over: pool, tls: tls, proxy: proxy) { result in
                        // Kept until here, so that connections aren't closed under a request whose session is gone.
                        withExtendedLifetime(pool) {}
                        let deliver = { @Sendable in
                            let result = result.flatMap { $0.result(of: request.url, endpoint: request.endpoint) }
                            Self.hand(over: result, to: completionHandler)
                        }
                        let size = (try? result.get())?.body.count ?? 0
                        if size > Self.largeSize { performElsewhere(deliver) } else { deliver() }
                    }
                case .failure(let failure):
                    Self.hand(over: .failure(failure), to: completionHandler)
                }
            })
    }

    private static func hand(
        over result: Result<(Data, HTTPURLResponse), HTTPFailure>,
        to completionHandler: (Data?, URLResponse?, (any Error)?) -> Void
    ) {
        switch result {
        case .success((let data, let response)): completionHandler(data, response, nil)
        case .failure(let failure): completionHandler(nil, nil, failure.error)
        }
    }
}

/// One request of a ``NetworkHTTPSession``. May be used from any thread.
public final class NetworkHTTPTask: HTTPTask {
    /// The commands for a request that hasn't begun.
    private struct Prepared {
        let start: NetworkLoop.Command
        let cancel: NetworkLoop.Command
    }

    private let key: LoopKey
    private let loop: NetworkLoop
    /// Commands are posted under this lock, which keeps them in order. Its values are released outside, because users' objects go
    /// with them.
    private let prepared: Locked<Prepared?>

    init(
        key: LoopKey, loop: NetworkLoop, cancelled: @escaping NetworkLoop.Command,
        started: @escaping NetworkLoop.Command
    ) {
        self.key = key
        self.loop = loop
        prepared = Locked(Prepared(start: started, cancel: cancelled))
    }

    /// Starts the request and its time limit; a second call does nothing.
    public func resume() {
        take(\.start) {}
    }

    /// Cancels the request; its completion handler receives `URLError.cancelled`, unless it was called already.
    public func cancel() {
        take(\.cancel) { loop.post { [key] in $0.service(HTTPClient.self).cancel(key) } }
    }

    private func take(_ command: KeyPath<Prepared, NetworkLoop.Command>, orIfBegun otherwise: () -> Void) {
        let (taken, isFirst) = prepared.withLock { prepared in
            defer { prepared = nil }
            if prepared == nil { otherwise() }
            return (prepared, prepared.map { loop.enqueue($0[keyPath: command]) } ?? false)
        }
        if isFirst { loop.launch() }
        withExtendedLifetime(taken) {}
    }
}

/// Connections that sessions share; closed when nobody holds this any more.
final class SharedConnections: Sendable {
    let key: LoopKey
    let loop: NetworkLoop
    let resolve: AddressResolver.Resolve

    init(loop: NetworkLoop, resolve: @escaping AddressResolver.Resolve) {
        key = loop.makeKey()
        self.loop = loop
        self.resolve = resolve
    }

    deinit {
        loop.post { [key] in $0.service(HTTPClient.self).closeConnections(of: key) }
    }
}
#endif
