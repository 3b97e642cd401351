#if canImport(CLibwebsockets)
import Glibc

/// A ``ByteStream`` over a socket of ours, which a loop's thread watches.
///
/// libwebsockets' own client would connect and speak TLS too, but tells little of what went wrong, has one TLS and proxy
/// setting for all, and parses WebSocket frames byte by byte.
final class SocketStream: ByteStream {
    private enum Phase {
        case connecting
        case plain
        case securing(TLSSession)
        case secure(TLSSession)
        /// All is said, and the peer knows. Reading goes on until it has closed too: to close with something unread is to reset
        /// the connection, and the peer's kernel would drop what it has of ours (RFC 6455, 7.1.1).
        case leaving(TLSSession?, LoopTimer)
        case closed
    }

    /// How long the server may take to close.
    private static let leaveTimeout = Duration.seconds(2)

    // Kept: a closing handshake goes on when nobody else wants it any more.
    var owner: (any ByteStreamOwner)?
    private let service: EventLoop
    private let socket: TCPSocket
    private var number: StreamNumber = 0
    private var phase = Phase.connecting
    private var isReading = true
    private var unreadTime: UnreadTime
    /// Whether something waits for room, at first the connection itself.
    private var awaitsRoom = true
    /// What a write met with. Whatever the peer sent before is read first.
    private var writeError: SystemError?

    /// Starts to connect to a numeric address.
    init(to address: String, port: Int, service: EventLoop) throws(SystemError) {
        self.service = service
        unreadTime = UnreadTime(service.turns)
        socket = try TCPSocket.connect(to: address, port: port)
        do throws(SystemError) {
            number = try service.add(self, with: socket, for: [.readable, .writable])
        } catch {
            socket.close()
            phase = .closed
            throw error
        }
    }

    // MARK: Commands

    func startTLS(_ context: TLSContext, host: String) {
        guard let session = TLSSession(context, descriptor: socket.descriptor, host: host) else {
            return end(.broken(SystemError(number: ENOMEM)))
        }
        phase = .securing(session)
        handshake(session)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard writeError == nil else { return 0 }
        let count: Int
        switch phase {
        case .connecting, .securing, .leaving, .closed: return 0
        case .plain:
            do throws(SystemError) {
                count = try socket.send(bytes)
            } catch {
                fail(error)
                return 0
            }
        case .secure(let session):
            let (sent, outcome) = session.send(bytes)
            count = sent
            switch outcome {
            case .done, .needsInput, .needsOutput: break
            // What the peer said before shows when it is read.
            case .ended, .cutOff, .broken, .failed: fail(SystemError(number: EPIPE))
            }
        }
        if count < bytes.count { awaitRoom() }
        return count
    }

    func setReading(_ reading: Bool) {
        guard reading != isReading, !isClosed else { return }
        isReading = reading
        if reading { unreadTime.resume(service.turns) } else { unreadTime.pause(service.turns) }
        watch()
        // What lies in the session already makes no socket readable.
        if reading, case .secure = phase { service.readAgain(self) }
    }

    func leave() {
        let session: TLSSession?
        switch phase {
        case .connecting, .securing: return cut()
        case .leaving, .closed: return
        case .plain: session = nil
        case .secure(let secure): session = secure
        }
        owner = nil
        session?.sendCloseNotify()
        socket.finish()
        setReading(true)
        let timer = service.timers.makeTimer()
        phase = .leaving(session, timer)
        timer.set(after: Self.leaveTimeout) { self.cut() }
    }

    func cut() {
        if case .secure(let session) = phase { session.sendCloseNotify() }
        release()
    }

    // MARK: What happens to the socket

    func happened(_ events: SocketEvents) {
        let isGone = !events.isDisjoint(with: .gone)
        if awaitsRoom, isGone || events.contains(.writable) {
            awaitsRoom = false
            watch()
            writable()
        }
        if isReading {
            if isGone || events.contains(.readable) { readable() }
        } else if isGone {
            // While nothing is read only this shows it.
            drain(thenReporting: SystemError(number: ECONNRESET))
        }
    }

    /// The same, but it is left to the next turn.
    func waits(_ events: SocketEvents) {
        if events.contains(.readable) { unreadTime.wait(in: service.turns) }
    }

    /// Reads on.
    func readable() {
        if case .securing(let session) = phase {
            handshake(session)
        } else {
            read()
        }
    }

    private func writable() {
        switch phase {
        case .connecting:
            let error = socket.connectionError
            if let error, !error.isOfConnected { return end(.broken(error)) }
            phase = .plain
            owner?.streamConnected()
            if let error { drain(thenReporting: error) }
        case .securing(let session): handshake(session)
        case .plain, .leaving(nil, _): owner?.streamWritable()
        case .secure, .leaving:
            // OpenSSL may have something of its own to send, which reading does.
            read()
            owner?.streamWritable()
        case .closed: break
        }
    }

    /// Ends after a write that failed.
    func drain() {
        if let writeError { drain(thenReporting: writeError) }
    }

    /// Reads what the peer sent before it went, even if nobody wanted to: a close frame among it may tell why.
    private func drain(thenReporting error: SystemError) {
        isReading = true
        while read() {}
        end(.broken(writeError ?? error))
    }

    // MARK: Reading

    /// Reads once; whether that brought something.
    @discardableResult
    private func read() -> Bool {
        guard isReading else { return false }
        switch phase {
        case .plain, .leaving(nil, _): return receive()
        case .secure(let session), .leaving(let session?, _): return receive(session)
        // A failure makes a connecting socket readable too; it is told when the socket can be written.
        case .connecting, .securing, .closed: return false
        }
    }

    private func receive() -> Bool {
        switch socket.receive(into: service.readBuffer) {
        case .bytes(let count):
            deliver(count)
            return true
        case .nothingYet: break
        case .ended: end(endOfInput)
        case .broken(let error): end(.broken(error))
        }
        return false
    }

    /// What it means that nothing more is to be read. The system tells a socket's error once: where a write met with it a read finds an
    /// orderly end. That is one only behind a broken pipe, which takes a peer that has said that it has sent its last.
    private var endOfInput: StreamEnd {
        if let writeError, writeError.number != EPIPE { .broken(writeError) } else { .finished }
    }

    private func receive(_ session: TLSSession) -> Bool {
        let (count, outcome) = session.receive(into: service.readBuffer)
        if count > 0 { deliver(count) }
        if case .closed = phase { return false }
        switch outcome {
        case .done: if session.hasPending { service.readAgain(self) }
        case .needsInput: break
        case .needsOutput: awaitRoom()
        case .ended: end(.finished)
        case .cutOff: end(.cutOff)
        case .broken(let number): end(.broken(SystemError(number: number)))
        case .failed(let trouble): end(.untrusted(trouble))
        }
        return count > 0
    }

    private func deliver(_ count: Int) {
        if let time = unreadTime.read(in: service.turns) { owner?.streamLate(by: time) }
        owner?.streamReceived(UnsafeRawBufferPointer(rebasing: service.readBuffer[..<count]))
    }

    private func handshake(_ session: TLSSession) {
        switch session.handshake() {
        case .done:
            phase = .secure(session)
            owner?.streamSecured()
            // The first bytes may have come along with the handshake's last.
            if case .secure = phase, session.hasPending { service.readAgain(self) }
        case .needsInput: break
        case .needsOutput: awaitRoom()
        case .ended: end(.finished)
        case .cutOff: end(.cutOff)
        case .broken(let number): end(.broken(SystemError(number: number)))
        case .failed(let trouble): end(.untrusted(trouble))
        }
    }

    // MARK: Ending

    private func fail(_ error: SystemError) {
        writeError = error
        service.drainLater(self)
    }

    private func end(_ end: StreamEnd) {
        guard !isClosed else { return }
        let owner = owner
        release()
        owner?.streamEnded(end)
    }

    private func release() {
        guard !isClosed else { return }
        owner = nil
        phase = .closed
        service.remove(number, with: socket)
        socket.close()
    }

    private var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    // MARK: Watching

    private func awaitRoom() {
        guard !awaitsRoom, !isClosed else { return }
        awaitsRoom = true
        watch()
    }

    private func watch() {
        var events: SocketEvents = []
        if isReading { events.insert(.readable) }
        if awaitsRoom { events.insert(.writable) }
        service.change(number, with: socket, for: events)
    }
}
#endif
