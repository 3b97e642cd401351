#if os(Linux)

/// Opens one connection over a route: name, address, proxy, TLS, one after the other, each with its deadline.
final class Connector: ByteStreamOwner {
    typealias Completion = (Result<ByteStream, TransportError>) -> Void

    private enum Stage {
        case resolving, connecting
        case tunneling(ProxyTunnel)
        case securing
    }

    private let route: Route
    private let loop: EventLoop
    private let timeouts: NetworkTimeouts
    private var tls: TLSContext?
    private var stage = Stage.resolving
    private var addresses: ArraySlice<String> = []
    private var timeForAddress = Duration.zero
    private var address = ""
    private var refusals = AddressRefusals()
    private var stream: ByteStream?
    /// The part of the tunnel request that waits for room.
    private var output = ByteQueue()
    private let timer: LoopTimer
    private var completion: Completion?
    private var withdrawLookUp: (() -> Void)?
    /// Called at the end of each stage.
    var onStage: ((ConnectStage) -> Void)?

    init(_ route: Route, loop: EventLoop) {
        self.route = route
        self.loop = loop
        timeouts = loop.environment.timeouts
        timer = loop.timers.makeTimer()
    }

    // MARK: Commands

    /// Starts connecting. `completion` is called once, unless the connector is cancelled. The code that receives the stream
    /// becomes its owner.
    func start(resolve: AddressResolver.Resolve, completion: @escaping Completion) {
        self.completion = completion
        let shared = loop.service(ConnectorResources.self)
        do throws(TransportError) {
            // Checked for each connection, because the files may hold other certificates by now.
            if let configuration = route.tls { tls = try shared.certificates.context(for: configuration) }
        } catch {
            return fail(error)
        }
        setTimer(timeouts.stage)
        if IPAddress(route.firstHost) != nil {
            resolved(.success([route.firstHost]))
        } else {
            withdrawLookUp = shared.lookUp(route.firstHost, with: resolve) { [weak self] in self?.resolved($0) }
        }
    }

    func cancel() {
        completion = nil
        dropLookUp()
    }

    // MARK: Addresses

    private func resolved(_ result: AddressResolver.Resolution) {
        withdrawLookUp = nil
        switch result {
        case .success(let found):
            onStage?(.name)
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
                let stream = try ByteStream(to: next, port: route.firstPort, loop: loop)
                stream.owner = self
                self.stream = stream
                return setTimer(addresses.isEmpty ? timeouts.stage : timeForAddress)
            } catch {
                refusals.add(next, error)
            }
        }
        fail(refusals.failure(endpoint: route.firstEndpoint))
    }

    /// Records that the address failed, and tries the next one.
    private func refused(_ error: SystemError) {
        refusals.add(address, error)
        connectToNextAddress()
    }

    // MARK: The stream

    func streamConnected() {
        onStage?(.tcp)
        guard case .tunnel(let proxy) = route.hop else { return reached() }
        let tunnel = ProxyTunnel(through: proxy, to: route.endpoint)
        advance(to: .tunneling(tunnel))
        output.bytes += tunnel.request
        streamWritable()
    }

    func streamSecured() {
        onStage?(.tls)
        arrived()
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer, since time: Instant) {
        guard case .tunneling(var tunnel) = stage else { return }
        do throws(TransportError) {
            let isThrough = try tunnel.read(bytes)
            stage = .tunneling(tunnel)
            guard isThrough else { return }
            onStage?(.proxy)
            reached()
        } catch {
            fail(error)
        }
    }

    func streamWritable() {
        output.write { stream?.write($0) ?? 0 }
    }

    func streamEnded(_ end: StreamEnd) {
        stream = nil
        switch (stage, end) {
        case (.connecting, .broken(let error)):
            refused(error)
        case (.tunneling, _):
            let text = "hung up before it answered the request for a tunnel to \(route.endpoint)"
            fail(TransportError(.connectionLost, "\(route.firstEndpoint) \(text)\(end.explanation)"))
        case (_, .untrusted(let diagnosis)):
            fail(diagnosis.failure(endpoint: route.endpoint))
        case (.resolving, _), (.connecting, _), (.securing, _):
            let text = "it hung up, or doesn't speak TLS\(end.explanation): \(TLSDiagnosis.withoutTLS)"
            fail(TransportError(.tlsFailed(.handshakeFailed), "TLS with \(route.endpoint) failed: \(text)"))
        }
    }

    // MARK: Stages

    /// The stream leads to the server: directly, or through the proxy.
    private func reached() {
        guard let tls else { return arrived() }
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
            dropLookUp()
            return refused(.timedOut)
        }
        let text =
            switch stage {
            case .resolving: "No address was found for \(route.firstHost)"
            case .connecting: "\(route.firstEndpoint) didn't accept the connection (address \(address))"
            case .tunneling: "\(route.firstEndpoint) didn't answer the request for a tunnel to \(route.endpoint)"
            case .securing: "\(route.endpoint) didn't finish the TLS handshake"
            }
        fail(.timedOut(text, after: timeouts.stage))
    }

    private func fail(_ failure: TransportError) {
        let completion = completion
        self.completion = nil
        dropLookUp()
        completion?(.failure(failure))
    }

    private func dropLookUp() {
        timer.cancel()
        withdrawLookUp?()
        withdrawLookUp = nil
        stream?.cut()
        stream = nil
    }

    private func setTimer(_ time: Duration) {
        timer.set(after: time) { [weak self] in self?.timedOut() }
    }
}

/// The TLS contexts and pending look-ups that a loop's connectors share.
final class ConnectorResources: LoopService {
    let certificates = TLSContexts()
    private let loop: EventLoop
    private var lookUps: [LoopKey: (AddressResolver.Resolution) -> Void] = [:]

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Looks up a name elsewhere; `completion` is called on this thread. Returns a closure that withdraws the request.
    func lookUp(
        _ host: String, with resolve: AddressResolver.Resolve, completion: @escaping (AddressResolver.Resolution) -> Void
    ) -> () -> Void {
        // Keys are unique among all loops of the owner, because a response may come after its loop has ended.
        let key = loop.owner.makeKey()
        lookUps[key] = completion
        let withdraw = resolve(host) { [owner = loop.owner] result in
            owner.post { $0.service(ConnectorResources.self).lookUps.removeValue(forKey: key)?(result) }
        }
        return {
            self.lookUps[key] = nil
            withdraw()
        }
    }

    func shutDown() {
        lookUps = [:]
    }
}

extension TransportError {
    /// Returns the failure for something that didn't happen in time.
    static func timedOut(_ text: String, after time: Duration) -> TransportError {
        let seconds = time / .seconds(1)
        let number = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
        return TransportError(.noAnswer, "\(text) within \(number) s")
    }
}
#endif
