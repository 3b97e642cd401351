#if os(Linux)
import Glibc

/// A stream of bytes to and from one peer, over TCP and perhaps TLS. Confined to the thread of its loop.
///
/// It has its own socket. libwebsockets' client could connect and speak TLS too, but says little about failures, has one TLS and
/// proxy setting for all connections, and parses WebSocket frames byte by byte.
final class ByteStream: SocketHandler {
    private enum Phase {
        case connecting
        case plain
        case securing(TLSSession)
        case secure(TLSSession)
        /// Everything is sent, and the peer knows it. Reading continues until the peer has closed too: closing with unread data
        /// resets the connection, and the peer's kernel would discard our data that it still holds (RFC 6455, 7.1.1).
        case leaving(TLSSession?, LoopTimer)
        case closed
    }

    /// The work that waits for room in the system's buffer. In each case, the work of the cases before it waits too.
    private enum RoomWait: Comparable {
        case nothing
        /// Writing or, at first, the connection itself.
        case writing
        /// Reads, too: bytes that can't be read would wake the loop for nothing.
        case reading
    }

    // A strong reference: a closing handshake continues when nobody else holds the owner any more.
    var owner: (any ByteStreamOwner)?
    private(set) var isReading = true
    private let loop: EventLoop
    private let socket: TCPSocket
    private var number: SocketNumber = 0
    private var phase = Phase.connecting
    /// The time up to which all received data was read.
    private var emptyAt: Instant
    private var roomWait = RoomWait.writing
    /// Indicates whether a write waits for the rest of a message of TLS itself, such as a ticket, of which the peer sent a part.
    private var writeAwaitsInput = false
    /// The error of a failed write. Everything that the peer sent before is read first.
    private var writeError: SystemError?

    /// Starts to connect to a numeric address.
    init(to address: String, port: Int, loop: EventLoop) throws(SystemError) {
        self.loop = loop
        emptyAt = loop.turnTime
        socket = try TCPSocket.connect(to: address, port: port)
        do throws(SystemError) {
            number = try loop.watch(socket.descriptor, for: [.readable, .writable], self)
        } catch {
            socket.close()
            phase = .closed
            throw error
        }
    }

    // MARK: Commands

    /// Switches to TLS with a host for everything that follows; ends in `streamSecured` or `streamEnded`.
    func startTLS(_ context: TLSContext, host: String) {
        guard let session = TLSSession(context, descriptor: socket.descriptor, host: host) else {
            return end(.broken(SystemError(number: ENOMEM)))
        }
        phase = .securing(session)
        handshake(session)
    }

    /// Writes bytes and returns the number that were accepted. The owner is notified when there may be room for the rest.
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
            let isAmidMessage = session.isAmidMessage
            let (sent, outcome) = session.send(bytes)
            count = sent
            // A write that finishes a message of TLS reads ahead, and what is in the session doesn't make the socket readable.
            if isAmidMessage, isReading, session.hasPending { readLater() }
            switch outcome {
            case .done, .needsOutput: break
            // There is room, and waiting for it would wake the loop for nothing.
            case .needsInput:
                writeAwaitsInput = true
                updateInterest()
                return count
            // Data that the peer sent before is read first.
            case .ended, .cutOff, .broken, .failed: fail(SystemError(number: EPIPE))
            }
        }
        if count < bytes.count { awaitRoom(for: .writing) }
        return count
    }

    /// Stops or resumes reading. Writing goes on.
    func setReading(_ reading: Bool) {
        guard reading != isReading, !isClosed else { return }
        isReading = reading
        updateInterest()
        // Data that is already in the session doesn't make the socket readable.
        if reading, case .secure = phase { readLater() }
    }

    /// Reads everything that has arrived, without waiting for the loop.
    func readNow() {
        while read() {}
    }

    /// Stops writing and lets the peer, which has nothing more to say, close; closes if that takes long. The owner isn't notified
    /// any more.
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
        let timer = loop.timers.makeTimer()
        phase = .leaving(session, timer)
        timer.set(after: loop.environment.timeouts.closing) { self.cut() }
    }

    /// Closes at once; the owner isn't notified any more.
    func cut() {
        if case .secure(let session) = phase { session.sendCloseNotify() }
        release()
    }

    // MARK: Events of the socket

    func socketReady(_ events: SocketEvents) {
        let isGone = !events.isDisjoint(with: .gone)
        if roomWait != .nothing, isGone || events.contains(.writable) {
            roomWait = .nothing
            updateInterest()
            writable()
        }
        if isReading {
            if isGone || events.contains(.readable) { readable() }
        } else if isGone {
            // While reading is stopped, nothing else shows that the connection is gone.
            drain(thenReporting: SystemError(number: ECONNRESET))
        }
        if writeAwaitsInput, events.contains(.readable) {
            writeAwaitsInput = false
            updateInterest()
            owner?.streamWritable()  // The write reads that rest itself if reading is stopped.
        }
    }

    private func readable() {
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
            // OpenSSL may have data of its own to send, which it does when it reads.
            read()
            owner?.streamWritable()
        case .closed: break
        }
    }

    /// Reads everything that the peer sent before it was gone, even if reading is stopped: a close frame in it may give the
    /// reason.
    private func drain(thenReporting error: SystemError) {
        // Includes data behind a large message, for which the owner stops reading.
        repeat { isReading = true } while read()
        end(.broken(writeError ?? error))
    }

    // MARK: Reading

    private func readLater() {
        loop.later { self.readable() }
    }

    /// Reads once, and returns whether there was any data.
    @discardableResult
    private func read() -> Bool {
        guard isReading else { return false }
        switch phase {
        case .plain, .leaving(nil, _): return receive()
        case .secure(let session), .leaving(let session?, _): return receive(session)
        // A failure makes a connecting socket readable too; it is reported when the socket is writable.
        case .connecting, .securing, .closed: return false
        }
    }

    private func receive() -> Bool {
        switch socket.receive(into: loop.readBuffer) {
        case .bytes(let count):
            deliver(count)
            return true
        case .nothingYet: break
        case .ended: end(endOfInput)
        case .broken(let error): end(.broken(error))
        }
        return false
    }

    /// The meaning of an end of input.
    ///
    /// The system reports a socket's error once: after a write has met with it, a read finds an orderly end. The end is really
    /// orderly only after a broken pipe, because that takes a peer which has announced the end of its data.
    private var endOfInput: StreamEnd {
        if let writeError, writeError.number != EPIPE { .broken(writeError) } else { .finished }
    }

    private func receive(_ session: TLSSession) -> Bool {
        let (count, outcome) = session.receive(into: loop.readBuffer)
        if count > 0 { deliver(count) }
        if isClosed { return false }
        goOn(after: outcome, with: session)
        return count > 0
    }

    private func deliver(_ count: Int) {
        let time = emptyAt
        // A read that doesn't fill the buffer leaves nothing behind: whatever comes next arrived after the turn began.
        if count < loop.readBuffer.count { emptyAt = loop.turnTime }
        let bytes = UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count])
        owner?.streamReceived(bytes, since: time)
    }

    private func handshake(_ session: TLSSession) {
        let outcome = session.handshake()
        if case .done = outcome {
            phase = .secure(session)
            owner?.streamSecured()
            guard case .secure = phase else { return }
        }
        goOn(after: outcome, with: session)
    }

    private func goOn(after outcome: TLSSession.Outcome, with session: TLSSession) {
        switch outcome {
        // The session may hold more data: the first bytes may have come along with the last of the handshake.
        case .done: if session.hasPending { readLater() }
        case .needsInput: break
        case .needsOutput: awaitRoom(for: .reading)
        case .ended: end(.finished)
        case .cutOff: end(.cutOff)
        case .broken(let number): end(.broken(SystemError(number: number)))
        case .failed(let diagnosis): end(.untrusted(diagnosis))
        }
    }

    // MARK: Ending

    private func fail(_ error: SystemError) {
        writeError = error
        loop.later { self.drain(thenReporting: error) }
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
        loop.unwatch(number, socket.descriptor)
        socket.close()
    }

    private var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    // MARK: Watching

    private func awaitRoom(for wait: RoomWait) {
        guard wait > roomWait, !isClosed else { return }
        roomWait = wait
        updateInterest()
    }

    private func updateInterest() {
        guard !isClosed else { return }
        var events: SocketEvents = []
        if isReading && roomWait != .reading || writeAwaitsInput { events.insert(.readable) }
        if roomWait != .nothing { events.insert(.writable) }
        loop.change(number, socket.descriptor, for: events)
    }
}
#endif
