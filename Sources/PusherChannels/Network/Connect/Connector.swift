#if canImport(CLibwebsockets)

/// Goes a route: name, address, proxy, TLS, one after the other, each with its deadline.
final class Connector: ByteStreamOwner {
    typealias Completion = (Result<any ByteStream, WebSocketFailure>) -> Void

    private enum Stage {
        case resolving, connecting
        case tunnelling(ProxyTunnel)
        case securing
    }

    private let route: Route
    private let service: EventLoop
    private let timeouts: ConnectTimeouts
    private var stage = Stage.resolving
    private var addresses: ArraySlice<String> = []
    private var timeForAddress = Duration.zero
    private var address = ""
    private var refusals = AddressRefusals()
    private var stream: (any ByteStream)?
    /// What of the request for a tunnel waits for room.
    private var output = OutputBuffer()
    private let timer: LoopTimer
    private var completion: Completion?

    init(_ route: Route, service: EventLoop) {
        self.route = route
        self.service = service
        timeouts = service.loop.timeouts
        timer = service.timers.makeTimer()
    }

    // MARK: Commands

    /// Begins; `completion` is called once, unless it is cancelled. Whoever gets the stream becomes its owner.
    func start(resolve: AddressResolver.Resolve, completion: @escaping Completion) {
        self.completion = completion
        setTimer(timeouts.stage)
        if IPAddress(route.nearHost) != nil {
            resolved(.success([route.nearHost]))
        } else {
            service.lookUp(route.nearHost, with: resolve) { [weak self] in self?.resolved($0) }
        }
    }

    func cancel() {
        completion = nil
        leaveStream()
    }

    // MARK: Addresses

    private func resolved(_ answer: AddressResolver.Answer) {
        switch answer {
        case .success(let found):
            addresses = found[...]
            timeForAddress = timeouts.address(of: found.count)
            connectToNextAddress()
        case .failure(let failure):
            fail(failure)
        }
    }

    private func connectToNextAddress() {
        while let next = addresses.popFirst() {
            address = next
            stage = .connecting
            do throws(SystemError) {
                let stream = try SocketStream(to: next, port: route.nearPort, service: service)
                stream.owner = self
                self.stream = stream
                return setTimer(addresses.isEmpty ? timeouts.stage : timeForAddress)
            } catch {
                refusals.add(next, error)
            }
        }
        fail(refusals.failure(endpoint: route.nearEnd))
    }

    /// The address doesn't take the connection: another one may.
    private func refused(_ error: SystemError) {
        refusals.add(address, error)
        connectToNextAddress()
    }

    // MARK: The stream

    func streamConnected() {
        guard case .tunnel(let proxy) = route.way else { return reached() }
        let tunnel = ProxyTunnel(through: proxy, to: route.endpoint)
        advance(to: .tunnelling(tunnel))
        output.bytes += tunnel.request
        streamWritable()
    }

    func streamSecured() {
        arrived()
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        guard case .tunnelling(var tunnel) = stage else { return }
        do throws(WebSocketFailure) {
            let isThrough = try tunnel.read(bytes)
            stage = .tunnelling(tunnel)
            if isThrough { reached() }
        } catch {
            fail(error)
        }
    }

    func streamWritable() {
        output.write { stream?.write($0) ?? 0 }
    }

    func streamEnded(_ end: StreamEnd) {
        stream = nil
        let reason = end.reason.map { ": \($0)" } ?? ""
        switch (stage, end) {
        case (.connecting, .broken(let error)):
            refused(error)
        case (.tunnelling, _):
            let text = "hung up before it answered the request for a tunnel to \(route.endpoint)"
            fail(WebSocketFailure(.connectionLost, "\(route.nearEnd) \(text)\(reason)"))
        case (_, .untrusted(let trouble)):
            fail(trouble.failure(endpoint: route.endpoint))
        case (.resolving, _), (.connecting, _), (.securing, _):
            let text = "it hung up, or doesn't speak TLS\(reason)"
            fail(WebSocketFailure(.tlsFailed(.handshakeFailed), "TLS with \(route.endpoint) failed: \(text)"))
        }
    }

    // MARK: Stages

    /// The stream leads to the server: directly, or through the proxy.
    private func reached() {
        guard let tls = route.tls else { return arrived() }
        advance(to: .securing)
        stream?.startTLS(tls, host: route.host)
    }

    private func advance(to stage: Stage) {
        self.stage = stage
        setTimer(timeouts.stage)
    }

    // MARK: Ending

    private func arrived() {
        guard let stream, let completion else { return }
        self.stream = nil
        self.completion = nil
        timer.cancel()
        completion(.success(stream))
    }

    private func timedOut() {
        if case .connecting = stage, !addresses.isEmpty {
            leaveStream()
            return refused(.timedOut)
        }
        let text =
            switch stage {
            case .resolving: "No address was found for \(route.nearHost)"
            case .connecting: "\(route.nearEnd) didn't accept the connection (address \(address))"
            case .tunnelling: "\(route.nearEnd) didn't answer the request for a tunnel to \(route.endpoint)"
            case .securing: "\(route.endpoint) didn't finish the TLS handshake"
            }
        fail(.timedOut(text, after: timeouts.stage))
    }

    private func fail(_ failure: WebSocketFailure) {
        let completion = completion
        self.completion = nil
        leaveStream()
        completion?(.failure(failure))
    }

    private func leaveStream() {
        timer.cancel()
        stream?.cut()
        stream = nil
    }

    private func setTimer(_ time: Duration) {
        timer.set(after: time) { [weak self] in self?.timedOut() }
    }
}

extension WebSocketFailure {
    /// What was to happen didn't in time.
    static func timedOut(_ text: String, after time: Duration) -> WebSocketFailure {
        let seconds = time / .seconds(1)
        let number = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
        return WebSocketFailure(.timedOut, "\(text) within \(number) s")
    }
}
#endif
