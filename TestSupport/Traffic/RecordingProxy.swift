#if LocalServer
import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Passes requests and WebSockets of any program on to another server, and records both: for a program that can't be changed, but
/// pointed at another address.
///
/// The recording is kept in memory until it is saved, with the addresses of the other server. All members may be called from any
/// thread.
package final class RecordingProxy: Sendable {
    /// The servers that traffic is passed on to.
    package struct Upstream: Sendable {
        let requests: UpstreamAddress
        let webSockets: UpstreamAddress

        /// Creates it from the address of one server, or from one for requests and one for WebSockets; `nil` for any other
        /// addresses.
        package init?(_ texts: [String]) {
            let addresses = texts.compactMap { UpstreamAddress($0) }
            guard let first = addresses.first, let last = addresses.last, addresses.count == texts.count, texts.count <= 2,
                texts.count == 1 || first.isOfWebSockets != last.isOfWebSockets
            else { return nil }
            (requests, webSockets) = first.isOfWebSockets ? (last, first) : (first, last)
        }

        /// Returns whether any of the servers is at a port of this machine.
        package func isHere(port: Int) -> Bool {
            [requests, webSockets].contains { $0.port == port && ["127.0.0.1", "localhost", "::1"].contains($0.host) }
        }
    }

    private let upstream: Upstream
    private let environment: PusherEnvironment
    private let recorder: TrafficRecorder
    private let session: RecordingSession
    /// The bytes that may still be recorded.
    private let room: Locked<Int>
    private let onFull: @Sendable () -> Void

    /// - Parameters:
    ///   - upstream: The servers to pass traffic on to.
    ///   - limit: The number of bytes to record, with a thousand for each request and message besides its own.
    ///   - environment: The session and the sockets that reach the upstream.
    ///   - onFull: A closure that is called, on any thread, when the limit is reached: from then on, traffic is only passed on.
    package init(
        to upstream: Upstream, limit: Int = 64 << 20, environment: PusherEnvironment = .live,
        onFull: @escaping @Sendable () -> Void
    ) {
        let recorder = TrafficRecorder()
        self.upstream = upstream
        self.environment = environment
        self.recorder = recorder
        session = recorder.recording(environment.httpSession)
        room = Locked(limit)
        self.onFull = onFull
    }

    /// Adds the routes of a server that passes everything on.
    package func addRoutes(to router: Router) {
        router.on(.any) { [self] in try await forward($0) }
        router.onWebSocket(.any) { [self] request, messages, play in await converse(request, messages, play) }
    }

    /// Writes what was recorded so far to a file as an HTTP archive, without secrets. The file is complete or stays as it was; as
    /// long as nothing was recorded, an earlier one stays if it can be written.
    package func save(to path: String) throws(TrafficError) {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let (paths, files) = ([file.path, file.deletingLastPathComponent().path], FileManager.default)
        if files.isRegular(file), paths.allSatisfy(files.isWritableFile), recorder.log.withLock({ $0.lines.isEmpty }) { return }
        try recorder.exportHAR(to: file.path)
    }

    private func count(_ size: Int) {
        let isFull = room.withLock { room in
            guard room > 0 else { return false }
            room -= size + 1_000
            return room <= 0
        }
        guard isFull else { return }
        recorder.stop()
        onFull()
    }

    // MARK: Requests

    private func forward(_ request: RecordedRequest) async throws -> StubResponse {
        defer { count(request.body.count + request.headSize) }
        guard let url = URL(string: upstream.requests.url + request.pathAndQuery) else {
            return StubResponse(status: 400, text: "The path of the request is not percent-encoded\n")
        }
        var forwarded = URLRequest(url: url)
        forwarded.httpMethod = request.method
        // What is compressed can't be recorded.
        forwarded.allHTTPHeaderFields = request.headers.withoutHopByHop.merging(["Accept-Encoding": "identity"]) { $1 }
        if !request.body.isEmpty { forwarded.httpBody = request.body }
        do {
            let (body, response) = try await session.response(to: forwarded)
            let fields = response.allHeaderFields.map { ("\($0)", "\($1)") }
            count(body.count + fields.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count })
            var headers = Dictionary(fields, uniquingKeysWith: { $1 }).withoutHopByHop
            if request.method.hasBytes(of: "HEAD") {
                // The length of the body that it asks about, which doesn't come.
                headers["Content-Length"] = response.value(forHTTPHeaderField: "Content-Length")
            }
            return StubResponse(status: response.statusCode, headers: headers, body: body)
        } catch {
            try Task.checkCancellation()
            return StubResponse(status: 502, text: "\(upstream.requests.url) can't be asked: \(error.localizedDescription)\n")
        }
    }

    // MARK: WebSockets

    private func converse(
        _ request: RecordedRequest, _ messages: AsyncStream<String>, _ play: @escaping @Sendable (SocketStep) -> Void
    ) async {
        let link = UpstreamLink(recorder.recording(environment.makeWebSocket()), play: play) { [self] in count($0) }
        let server = upstream.webSockets
        link.open(
            WebSocketRequest(
                secure: server.secure, host: server.host, port: server.port, path: request.pathAndQuery,
                headers: request.headers.withoutHopByHop))
        count(request.headSize)
        for await message in messages { link.send(message) }
        link.close()
    }
}

extension RecordedRequest {
    fileprivate var headSize: Int { headers.reduce(url.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count } }
}

/// The address of a server, without a path.
struct UpstreamAddress: Sendable {
    let secure: Bool
    let isOfWebSockets: Bool
    let host: String
    let port: Int
    /// The address for requests, to which their path is added.
    let url: String

    init?(_ text: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
            ["http", "https", "ws", "wss"].contains(scheme), !host.isEmpty, ["", "/"].contains(parts.percentEncodedPath),
            parts.query == nil, parts.fragment == nil, parts.user == nil, parts.port.map({ 1...65_535 ~= $0 }) ?? true
        else { return nil }
        secure = ["https", "wss"].contains(scheme)
        isOfWebSockets = ["ws", "wss"].contains(scheme)
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = parts.port ?? (secure ? 443 : 80)
        let authority = text.drop { $0 != ":" }
        url = "\(secure ? "https" : "http")\(authority.hasSuffix("/") ? authority.dropLast() : authority)"
    }
}

/// The upstream's end of a client's WebSocket.
private final class UpstreamLink: WebSocketDelegate {
    /// The messages that wait for the socket to open.
    private struct Waiting {
        var messages: [String] = []
        var size = 0
        var isOver = false
    }

    /// The largest number of bytes that may wait. A client of Channels says nothing before the server's greeting.
    private static let limit = 1 << 20

    private let socket: RecordingWebSocket
    private let play: @Sendable (SocketStep) -> Void
    private let count: @Sendable (Int) -> Void
    private let waiting = Locked(Waiting())

    init(
        _ socket: RecordingWebSocket, play: @escaping @Sendable (SocketStep) -> Void, count: @escaping @Sendable (Int) -> Void
    ) {
        self.socket = socket
        self.play = play
        self.count = count
        socket.delegate = self
    }

    // MARK: The client's side

    func open(_ request: WebSocketRequest) {
        socket.open(request, attempt: ConnectionAttempt(1))
    }

    func send(_ text: String) {
        count(text.utf8.count)
        let isTooMuch = waiting.withLock { waiting in
            if waiting.isOver {
                socket.send(text)
                return false
            }
            // More than the limit has been answered already.
            guard waiting.size <= Self.limit else { return false }
            waiting.messages.append(text)
            waiting.size += text.utf8.count
            return waiting.size > Self.limit
        }
        if isTooMuch { play(.close(code: 1013, reason: "Too much waits for the upstream")) }
    }

    func close() {
        socket.close(code: 1000, reason: "")
    }

    // MARK: The upstream's side

    func webSocketDidOpen(attempt: ConnectionAttempt) {
        // Under the lock, so that nothing that the client sends meanwhile comes before.
        waiting.withLock { waiting in
            for text in waiting.messages { socket.send(text) }
            waiting = Waiting(isOver: true)
        }
    }

    func webSocketDidReceive(_ messages: borrowing MessageBatch, attempt: ConnectionAttempt) {
        messages.forEach { kind, bytes in
            count(bytes.count)
            if kind == .text {
                play(.send(String(decoding: bytes, as: UTF8.self)))
            } else {
                play(.close(code: 1003, reason: "Binary messages are not passed on"))
            }
        }
    }

    func webSocketDidClose(_ closure: WebSocketClosure, attempt: ConnectionAttempt) {
        switch closure {
        case .closed(let code, let reason): play(.close(code: code == 1005 ? 1000 : code, reason: reason))
        case .failed(let error):
            let wasOpen = waiting.withLock { $0.isOver }
            play(wasOpen ? .drop : .close(code: 1011, reason: "No connection to the upstream: \(error)"))
        }
    }
}

extension RecordedRequest {
    fileprivate var pathAndQuery: String { query.isEmpty ? path : "\(path)?\(query)" }
}

extension [String: String] {
    /// The fields that aren't about one connection (RFC 9110, 7.6.1), nor about the length or the form of its messages.
    fileprivate var withoutHopByHop: [String: String] {
        let named = first(where: { $0.key.isSameWord(as: "Connection") })?.value.split(separator: ",") ?? []
        let dropped =
            named.map { $0.trimmingCharacters(in: .whitespaces) } + [
                "Accept-Encoding", "Connection", "Content-Length", "Host", "Keep-Alive", "Proxy-Authenticate",
                "Proxy-Authorization", "Proxy-Connection", "Sec-WebSocket-Extensions", "Sec-WebSocket-Key",
                "Sec-WebSocket-Protocol", "Sec-WebSocket-Version", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
            ]
        return filter { field in !dropped.contains { $0.isSameWord(as: field.key) } }
    }
}
#endif
