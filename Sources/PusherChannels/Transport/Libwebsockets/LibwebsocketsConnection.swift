#if canImport(CLibwebsockets)
import CLibwebsockets

/// One attempt, from its `open` to its one report of the end. Lives on the service thread.
final class LibwebsocketsConnection {
    /// How long the peer may take over our closing handshake without anything moving.
    private static let closeTimeout: Int64 = 2
    /// How long an address may take to accept if there is another to try.
    private static let addressTimeout: Int64 = 5

    let report: ConnectionReport
    private let key: ConnectionKey
    let service: LibwebsocketsService
    private(set) var stage = ConnectionStage.resolving
    private(set) var request: UpgradeRequest?
    private var addresses: ArraySlice<String> = []
    private var address = ""
    private var wire: LibwebsocketsService.Wire?
    private var wsi: OpaquePointer?
    private var hasReported = false
    private var isReading = true
    private var sentClose = false
    private var output = OutputQueue()
    private var assembler = MessageAssembler()

    init(service: LibwebsocketsService, key: ConnectionKey, report: ConnectionReport) {
        self.service = service
        self.key = key
        self.report = report
    }

    // MARK: Connecting

    func start(_ request: WebSocketRequest, resolve: AddressResolver.Resolve) {
        do throws(WebSocketFailure) {
            self.request = try UpgradeRequest(request)
        } catch {
            return end(.failed(error))
        }
        guard service.virtualHost(secure: request.secure) != nil else {
            return end(.failed(WebSocketFailure(.unsupported, "Can't set libwebsockets up: out of descriptors or memory?")))
        }
        if AddressResolver.isNumeric(request.host) {
            resolved(.success([request.host]))
        } else {
            resolve(request.host) { [loop = service.loop, key] answer in
                loop.post { $0.connection(key)?.resolved(answer) }
            }
        }
    }

    private func resolved(_ answer: AddressResolver.Answer) {
        switch answer {
        case .success(let found):
            addresses = found[...]
            connectToNextAddress()
        case .failure(let failure):
            end(.failed(failure))
        }
    }

    func connectToNextAddress() {
        guard !hasReported, let request, let next = addresses.popFirst() else { return }
        address = next
        stage = .connecting
        let wire = service.makeWire(for: self)
        self.wire = wire
        let wsi = service.connect(request, to: next, wire: wire)
        // The attempt may be over already, told by callbacks from within the call.
        guard self.wire == wire else { return }
        if let wsi {
            self.wsi = wsi
            if case .connecting = stage {
                setTimer(seconds: addresses.isEmpty ? LibwebsocketsContext.handshakeTimeout : Self.addressTimeout)
            }
        } else {
            wireEnded(saying: nil)
        }
    }

    /// TCP is connected, or TLS is agreed on: what comes next gets the full time again.
    func advance(to stage: ConnectionStage, on wsi: OpaquePointer) {
        self.wsi = wsi
        self.stage = stage
        setTimer(seconds: LibwebsocketsContext.handshakeTimeout)
    }

    func opened(on wsi: OpaquePointer) {
        self.wsi = wsi
        stage = .open
        if !isReading { lws_rx_flow_control(wsi, 0) }
        report.opened()
    }

    // MARK: Commands

    func send(_ message: OutgoingMessage) {
        guard case .open = stage, let wsi else { return }
        output.append(message)
        lws_callback_on_writable(wsi)
    }

    func setReading(_ reading: Bool) {
        guard reading != isReading else { return }
        isReading = reading
        if case .open = stage, let wsi { lws_rx_flow_control(wsi, reading ? 1 : 0) }
    }

    func close(code: UInt16, reason: String) {
        switch stage {
        case .resolving, .connecting, .securing, .upgrading:
            cutWire()
            end(.failed(WebSocketFailure(.cancelled, "Closed before it was open")))
        case .open:
            stage = .closing(code: code, reason: reason)
            setTimer(seconds: Self.closeTimeout)
            if let wsi { lws_callback_on_writable(wsi) }
        case .closing, .ended:
            break
        }
    }

    /// Closes for an owner that doesn't wait: reports at once, and leaves the closing handshake to itself.
    func abandon() {
        close(code: 1000, reason: "")
        if case .closing(let code, let reason) = stage { tell(.closed(code: code, reason: reason)) }
    }

    // MARK: Callbacks

    /// Sends one message, or after the last one the close frame. -1 tells libwebsockets to close.
    func writeable(on wsi: OpaquePointer) -> Int32 {
        if var message = output.popFirst() {
            guard message.write(to: wsi) else { return -1 }
            var goesOn = !output.isEmpty
            if case .closing = stage {
                setTimer(seconds: Self.closeTimeout)
                goesOn = true
            }
            if goesOn { lws_callback_on_writable(wsi) }
            return 0
        }
        // Only now that nothing is queued: libwebsockets forgets the close frame if it holds unsent output at this moment.
        guard case .closing(let code, let reason) = stage, !sentClose else { return 0 }
        sentClose = true
        lws_rx_flow_control(wsi, 1)
        CloseFrame(code: code, reason: reason).prepare(on: wsi)
        return -1
    }

    func received(_ piece: UnsafeRawBufferPointer, on wsi: OpaquePointer) -> Int32 {
        guard !hasReported else { return 0 }
        let flags = clws_frame_flags(wsi)
        let kind: MessageBatch.Kind = flags & UInt32(CLWS_BINARY) == 0 ? .text : .binary
        let isFirst = flags & UInt32(CLWS_FIRST) != 0
        let isFinal = flags & UInt32(CLWS_FINAL) != 0
        if isFirst, isFinal {
            service.inbox.add(kind, piece, for: self)
        } else if !assembler.add(piece, isFirst: isFirst, announced: Int(clamping: lws_remaining_packet_payload(wsi))) {
            let failure = WebSocketFailure(.protocolViolation, "The server sent a message of more than 16 MiB")
            end(.failed(failure))
            CloseFrame(code: 1009, reason: "message too large").prepare(on: wsi)
            return -1
        } else if isFinal {
            assembler.take { service.inbox.add(kind, $0, for: self) }
        }
        return 0
    }

    func receivedPong() {
        guard !hasReported else { return }
        service.inbox.deliver(for: self)
        report.receivedControlFrame()
    }

    /// The peer closes; libwebsockets answers with the same code and ends the connection.
    func peerClosed(_ payload: UnsafeRawBufferPointer) {
        guard payload.count >= 2 else { return end(.closed(code: 1005, reason: "")) }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        end(.closed(code: code, reason: String(decoding: payload[2...], as: UTF8.self)))
    }

    func timerFired() {
        let reached = stage
        switch reached {
        // The timer of an earlier stage: libwebsockets 4.1 has no way to stop one.
        case .open, .ended: return
        default: cutWire()
        }
        switch reached {
        case .closing(let code, let reason): end(.closed(code: code, reason: reason))
        case .connecting where !addresses.isEmpty: service.settleLater(self)
        default: end(.failed(failure(at: reached, saying: nil, status: 0, hasTimedOut: true)))
        }
    }

    /// libwebsockets gave the wire up, with or without telling why: the one place where all its ways to end meet.
    func wireEnded(saying text: String?, status: Int = 0) {
        defer { service.tlsReason = nil }
        if let wire { service.cut(wire) }
        wire = nil
        wsi = nil
        switch stage {
        case .closing(let code, let reason): end(.closed(code: code, reason: reason))
        case .connecting where !addresses.isEmpty && !hasReported: service.settleLater(self)
        case .ended: break
        default: end(.failed(failure(at: stage, saying: text, status: status, hasTimedOut: false)))
        }
    }

    // MARK: Ending

    private func failure(at stage: ConnectionStage, saying text: String?, status: Int, hasTimedOut: Bool) -> WebSocketFailure {
        ConnectionTrouble(
            endpoint: request?.endpoint ?? "", address: address, stage: stage, text: text, status: status,
            tlsReason: service.tlsReason, hasTimedOut: hasTimedOut
        ).failure
    }

    private func end(_ closure: WebSocketClosure) {
        stage = .ended
        output.removeAll()
        tell(closure)
    }

    private func tell(_ closure: WebSocketClosure) {
        guard !hasReported else { return }
        service.inbox.deliver(for: self)
        hasReported = true
        service.forget(key)
        report.closed(closure)
    }

    /// Ends the connection at once; nothing more is heard of it.
    private func cutWire() {
        if let wire { service.cut(wire) }
        if let wsi { lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC) }
        wire = nil
        wsi = nil
    }

    /// Sets the one timer of the connection for the stage it is in.
    private func setTimer(seconds: Int64) {
        if let wsi { lws_set_timer_usecs(wsi, seconds * 1_000_000) }
    }
}
#endif
