#if canImport(CLibwebsockets)

/// The way from a request to an upgraded stream: name, address, proxy, TLS, upgrade, one after the other, each with its deadline.
final class ConnectionOpening: ByteStreamOwner {
    /// What came of it.
    enum Result {
        /// Upgraded; with what the server sent along.
        case open(any ByteStream, early: [UInt8], WebSocketRequest)
        case redirected(WebSocketRequest)
        case failed(WebSocketFailure)
    }

    private let request: WebSocketRequest
    private let upgrade: UpgradeRequest
    /// Nil for the direct way.
    private let proxy: HTTPProxy?
    private let tls: TLSContext?
    private let service: LibwebsocketsService
    private var stage = OpeningStage.resolving
    private var addresses: ArraySlice<String> = []
    private var address = ""
    private var refusals = AddressRefusals()
    private var stream: (any ByteStream)?
    /// What of the request, or of that to the proxy, waits for room.
    private var output = OutputBuffer()
    private var timer: LoopTimers.Timer?
    private var finish: ((Result) -> Void)?

    /// Checks a request against what can be done.
    init(_ request: WebSocketRequest, service: LibwebsocketsService) throws(WebSocketFailure) {
        self.request = request
        self.service = service
        upgrade = try UpgradeRequest(request)
        proxy = try request.effectiveProxy
        tls = request.secure ? try service.certificates.context(for: request.tls) : nil
    }

    /// Where it goes, for the queue: two ways to one host don't hold each other up.
    var endpoint: String { proxy.map { "\(upgrade.endpoint) \($0)" } ?? upgrade.endpoint }

    // MARK: Commands

    /// Begins; `finish` is called once, unless it is cancelled.
    func start(resolve: AddressResolver.Resolve, finish: @escaping (Result) -> Void) {
        self.finish = finish
        setTimer(OpeningStage.timeout)
        let host = proxy?.host ?? upgrade.host
        if IPAddress(host) != nil {
            resolved(.success([host]))
        } else {
            service.lookUp(host, with: resolve) { [weak self] in self?.resolved($0) }
        }
    }

    func cancel() {
        finish = nil
        leaveStream()
    }

    // MARK: Addresses

    private func resolved(_ answer: AddressResolver.Answer) {
        guard case .resolving = stage, finish != nil else { return }
        switch answer {
        case .success(let found):
            addresses = found[...]
            connectToNextAddress()
        case .failure(let failure):
            end(.failed(failure))
        }
    }

    private func connectToNextAddress() {
        while let next = addresses.popFirst() {
            address = next
            stage = .connecting
            do throws(SystemError) {
                let stream = try LibwebsocketsStream(to: next, port: proxy?.port ?? upgrade.port, service: service)
                stream.owner = self
                self.stream = stream
                return setTimer(addresses.isEmpty ? OpeningStage.timeout : OpeningStage.addressTimeout)
            } catch {
                refusals.add(next, error)
            }
        }
        end(.failed(refusals.failure(endpoint: nearEnd)))
    }

    /// The address doesn't take the connection: another one may.
    private func refused(_ error: SystemError) {
        refusals.add(address, error)
        connectToNextAddress()
    }

    // MARK: The stream

    func streamConnected() {
        if let proxy {
            let tunnel = ProxyTunnel(through: proxy, to: upgrade.endpoint)
            advance(to: .tunnelling(tunnel))
            write(tunnel.request)
        } else {
            reached()
        }
    }

    func streamSecured() {
        sendUpgrade()
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        do throws(WebSocketFailure) {
            switch stage {
            case .tunnelling(var tunnel):
                let isThrough = try tunnel.read(bytes)
                stage = .tunnelling(tunnel)
                if isThrough { reached() }
            case .upgrading(let handshake, var reader):
                try readAnswer(bytes, &reader, handshake)
            case .resolving, .connecting, .securing:
                break
            }
        } catch {
            end(.failed(error))
        }
    }

    func streamWritable() {
        output.write { stream?.write($0) ?? 0 }
    }

    func streamEnded(_ end: StreamEnd) {
        stream = nil
        if case .connecting = stage, case .broken(let error) = end { return refused(error) }
        self.end(.failed(stage.failure(end, endpoint: upgrade.endpoint, proxy: proxy)))
    }

    // MARK: Stages

    /// The stream leads to the server: directly, or through the proxy.
    private func reached() {
        guard let tls else { return sendUpgrade() }
        advance(to: .securing)
        stream?.startTLS(tls, host: upgrade.host)
    }

    private func sendUpgrade() {
        let handshake = upgrade.makeHandshake(nonce: (.random(in: 0 ... .max), .random(in: 0 ... .max)))
        advance(to: .upgrading(handshake, AnswerReader()))
        write(upgrade.bytes(handshake))
    }

    private func readAnswer(
        _ bytes: UnsafeRawBufferPointer, _ reader: inout AnswerReader, _ handshake: UpgradeHandshake
    ) throws(WebSocketFailure) {
        var cursor = ByteCursor(bytes)
        let answer: UpgradeAnswer?
        do throws(AnswerReader.Problem) {
            answer = try reader.read(&cursor)
        } catch {
            throw WebSocketFailure(
                .protocolViolation, "\(upgrade.endpoint) doesn't answer like a WebSocket server: \(error.description)")
        }
        guard let answer else {
            stage = .upgrading(handshake, reader)
            return
        }
        if request.maximumRedirects > 0, let next = answer.redirect(of: request) { return end(.redirected(next)) }
        do throws(UpgradeRefusal) {
            _ = try handshake.check(answer)
        } catch {
            throw error.failure(endpoint: upgrade.endpoint)
        }
        guard let stream else { return }
        self.stream = nil
        end(.open(stream, early: Array(cursor.take(upTo: cursor.remaining)), request))
    }

    private func write(_ bytes: [UInt8]) {
        output.bytes += bytes
        streamWritable()
    }

    private func advance(to stage: OpeningStage) {
        self.stage = stage
        setTimer(OpeningStage.timeout)
    }

    // MARK: Ending

    private func timedOut() {
        timer = nil
        if case .connecting = stage, !addresses.isEmpty {
            leaveStream()
            return refused(.timedOut)
        }
        end(.failed(stage.timeout(endpoint: upgrade.endpoint, proxy: proxy, address: address)))
    }

    private func end(_ result: Result) {
        let finish = finish
        self.finish = nil
        leaveStream()
        finish?(result)
    }

    private func leaveStream() {
        cancelTimer()
        stream?.close()
        stream = nil
    }

    private func setTimer(_ time: Duration) {
        cancelTimer()
        timer = service.timers.set(after: time) { [weak self] in self?.timedOut() }
    }

    private func cancelTimer() {
        if let timer { service.timers.cancel(timer) }
        timer = nil
    }

    /// Whom it speaks to first.
    private var nearEnd: String { proxy.map { "the proxy \($0)" } ?? upgrade.endpoint }
}
#endif
