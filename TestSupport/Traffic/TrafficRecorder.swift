import Foundation
import PusherChannels

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Records what an app sends and receives, so that you can write it to a file once and validate it against that file from then
/// on.
///
/// ```swift
/// let recorder = TrafficRecorder()
/// let environment = PusherEnvironment(
///     httpSession: recorder.recording(URLSession.shared),
///     makeWebSocket: { recorder.recording(DefaultTransport.makeWebSocket()) })
/// // … what the app does …
/// try recorder.record(to: "sign-in.json")  // the first time; from then on:
/// try recorder.validate(against: "sign-in.json")
/// ```
///
/// The file is an array of entries that people may read and edit, in `__Traffic__` beside the test:
///
/// ```json
/// [
///   {"url": "https://api.example.com/tracks/[0-9]+", "parameters": {"liked": "false"}, "body": {}},
///   {"frame": "received", "event": "price", "channel": "prices", "data": {"amount": {"$type": "number"}}}
/// ]
/// ```
///
/// A text stands for itself, or is a regular expression that matches the whole value. `{"$regex": "…"}`, `{"$any": true}`,
/// `{"$type": "number"}`, `{"$absent": true}`, `{"$unordered": […]}` and `{"$literal": …}` may stand for any value.
///
/// Recorders share nothing: any number may be used side by side. All members may be called from any thread.
public final class TrafficRecorder: Sendable {
    let log = Locked(TrafficLog())
    let redaction: Redaction
    let headers: Set<String>
    let environment: [String: String]
    private let wallClock: @Sendable () -> Date
    private let lastConnection = Locked(0)
    let refusals = Locked<[Finding]>([])
    /// The sessions behind recording configurations, kept as long as the recorder is.
    private let configured = Locked<[any HTTPSession]>([])

    /// Creates a recorder that is recording.
    ///
    /// - Parameters:
    ///   - headers: The header fields of requests that are written to files, if a request has them; case doesn't matter.
    ///   - redaction: The secrets that are hidden.
    ///   - environment: The environment, whose variables `CI` and `TRAFFIC_DIR` are used; see `record(to:)`.
    ///   - wallClock: The source of the times in ``exportHAR()``.
    public init(
        headers: Set<String> = [], redaction: Redaction = .standard,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.headers = Set(headers.map { $0.lowercased() })
        self.redaction = redaction
        self.environment = environment
        self.wallClock = wallClock
    }

    /// Discards the recorded traffic, and records from now on.
    public func start() {
        log.withLock { $0.restart() }
    }

    /// Stops recording; the recorded traffic is kept.
    public func stop() {
        log.withLock { $0.isRecording = false }
    }

    /// The recorded entries, in order: a request is added when it is started, a frame when it is sent or received.
    public var entries: [TrafficEntry] { log.withLock { $0.lines.compactMap(\.entry) } }

    /// The findings for a test's end: a `record(to:)` that was left in the test and reached a CI machine. A ``TestHarness``
    /// checks them.
    public var findings: [Finding] { refusals.withLock { $0 } }

    // MARK: Recording

    /// Returns a session that behaves like another one and has its requests recorded by this recorder.
    public func recording(_ session: some HTTPSession) -> RecordingSession {
        RecordingSession(session, recorder: self)
    }

    /// Keeps a session for a configuration that can't hold one. Returns a closure that gives a recording session as long as this
    /// recorder lives.
    func keep(_ session: any HTTPSession) -> @Sendable () -> (any HTTPSession)? {
        let number = configured.withLock { configured in
            configured.append(session)
            return configured.count - 1
        }
        return { [weak self] in
            self.map { recorder in RecordingSession(recorder.configured.withLock { $0[number] }, recorder: recorder) }
        }
    }

    /// Returns a socket that behaves like another one and has its messages recorded by this recorder. It becomes that socket's
    /// delegate.
    public func recording(_ socket: any WebSocket) -> RecordingWebSocket {
        RecordingWebSocket(socket, recorder: self)
    }

    /// Records a request that was made elsewhere, such as one that a ``LocalServer`` received.
    public func record(_ request: RecordedRequest) {
        _ = begin(request)
    }

    /// Records a request, and returns the number for adding its response; `nil` if it isn't recorded.
    func begin(_ request: RecordedRequest) -> Int? {
        guard log.withLock({ $0.isRecording }) else { return nil }
        let entry = TrafficEntry(request, redaction: redaction)
        let exchange = TrafficLog.Exchange(request: redacted(request), started: wallClock())
        return log.withLock { $0.append(.exchange(exchange), entry) }
    }

    func finish(_ number: Int, _ response: HTTPURLResponse, body: Data) {
        let headers = response.allHeaderFields.map { ("\($0)", "\($1)") }
        let reply = TrafficLog.Exchange.Response(
            status: response.statusCode, headers: redacted(Dictionary(headers, uniquingKeysWith: { $1 })), text: redacted(body),
            ended: wallClock())
        log.withLock { $0.complete(number, with: reply) }
    }

    func open(_ request: WebSocketRequest) -> TrafficLog.Connection {
        let number = lastConnection.withLock { last in
            last += 1
            return last
        }
        let connection = TrafficLog.Connection(
            number: number, url: redaction.redact(url: request.url), headers: redacted(request.headers), started: wallClock())
        _ = log.withLock { $0.append(.connection(connection), nil) }
        return connection
    }

    func record(_ text: String, isSent: Bool, on connection: TrafficLog.Connection) {
        guard log.withLock({ $0.isRecording }) else { return }
        let entry = TrafficEntry(frame: text, isSent: isSent, url: connection.url, redaction: redaction)
        let frame = TrafficLog.Frame(
            connection: connection, isSent: isSent, text: redaction.redact(text), time: wallClock())
        _ = log.withLock { $0.append(.frame(frame), entry) }
    }

    // MARK: Hiding

    private func redacted(_ request: RecordedRequest) -> RecordedRequest {
        RecordedRequest(
            method: request.method, url: redaction.redact(url: request.url), headers: redacted(request.headers),
            body: Data(redacted(request.body, type: request.header("Content-Type")).utf8))
    }

    private func redacted(_ headers: [String: String]) -> [String: String] {
        Dictionary(headers.map { ($0, redaction.redact($1, named: $0)) }, uniquingKeysWith: { $1 })
    }

    /// Returns a body for export.
    private func redacted(_ body: Data, type: String? = nil) -> String {
        guard let text = String(data: body, encoding: .utf8) else { return "<\(body.count) bytes>" }
        if TrafficEntry.isMultipart(text, type: type) { return "<multipart>" }
        return TrafficEntry.isForm(text, type: type) ? redaction.redact(fields: text) : redaction.redact(text)
    }
}
