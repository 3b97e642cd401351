#if canImport(CLibwebsockets)

/// The way from a request to an upgraded stream: the route, then the upgrade.
final class WebSocketHandshake: ByteStreamOwner {
    /// What came of it.
    enum Result {
        /// Upgraded; with what the server sent along.
        case open(any ByteStream, early: [UInt8])
        case redirected(WebSocketRequest)
        case failed(WebSocketFailure)
    }

    let request: WebSocketRequest
    let route: Route
    private let upgrade: UpgradeRequest
    private let handshake: UpgradeHandshake
    private let opening: Connector
    private let timer: LoopTimer
    private let timeout: Duration
    private var reader = ResponseHeadParser()
    private var stream: (any ByteStream)?
    /// What of the request waits for room.
    private var output = OutputBuffer()
    private var completion: ((Result) -> Void)?

    /// Checks a request against what can be done.
    init(_ request: WebSocketRequest, service: EventLoop) throws(WebSocketFailure) {
        self.request = request
        upgrade = try UpgradeRequest(request)
        handshake = upgrade.makeHandshake(nonce: (.random(in: 0 ... .max), .random(in: 0 ... .max)))
        route = Route(
            host: request.host, port: request.port, proxy: try request.effectiveProxy,
            tls: request.secure ? try service.certificates.context(for: request.tls) : nil)
        opening = Connector(route, service: service)
        timer = service.timers.makeTimer()
        timeout = service.loop.timeouts.stage
    }

    // MARK: Commands

    /// Begins; `completion` is called once, unless it is cancelled.
    func start(resolve: AddressResolver.Resolve, completion: @escaping (Result) -> Void) {
        self.completion = completion
        opening.start(resolve: resolve) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let stream): arrived(stream)
            case .failure(let failure): end(.failed(failure))
            }
        }
    }

    func cancel() {
        completion = nil
        opening.cancel()
        leaveStream()
    }

    // MARK: The stream

    private func arrived(_ stream: any ByteStream) {
        self.stream = stream
        stream.owner = self
        timer.set(after: timeout) { [weak self] in self?.timedOut() }
        output.bytes += upgrade.bytes(handshake)
        streamWritable()
    }

    func streamConnected() {}

    func streamSecured() {}

    func streamWritable() {
        output.write { stream?.write($0) ?? 0 }
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        var cursor = ByteCursor(bytes)
        do throws(ResponseHeadParser.Problem) {
            guard let answer = try reader.read(&cursor) else { return }
            answered(answer, early: Array(cursor.take(upTo: cursor.remaining)))
        } catch {
            let text = "\(route.endpoint) doesn't answer like a WebSocket server: \(error.description)"
            end(.failed(WebSocketFailure(.protocolViolation, text)))
        }
    }

    func streamEnded(_ end: StreamEnd) {
        stream = nil
        // With TLS 1.3 a server refuses a client's certificate only after the handshake.
        if case .untrusted(let trouble) = end { return self.end(.failed(trouble.failure(endpoint: route.endpoint))) }
        let reason = end.reason.map { ": \($0)" } ?? ""
        let text = "\(route.endpoint) hung up before it answered the WebSocket upgrade\(reason)"
        self.end(.failed(WebSocketFailure(.connectionLost, text)))
    }

    private func answered(_ answer: ResponseHead, early: [UInt8]) {
        if request.maximumRedirects > 0, let next = answer.redirect(of: request) { return end(.redirected(next)) }
        do throws(UpgradeRefusal) {
            _ = try handshake.check(answer)
        } catch {
            return end(.failed(error.failure(endpoint: route.endpoint)))
        }
        guard let stream else { return }
        self.stream = nil
        end(.open(stream, early: early))
    }

    // MARK: Ending

    private func timedOut() {
        end(.failed(.timedOut("\(route.endpoint) didn't answer the WebSocket upgrade", after: timeout)))
    }

    private func end(_ result: Result) {
        let completion = completion
        self.completion = nil
        leaveStream()
        completion?(result)
    }

    private func leaveStream() {
        timer.cancel()
        stream?.cut()
        stream = nil
    }
}
#endif
