import PusherChannels

/// One client and the proxy's connection to the server for it. Used on the proxy's thread only.
struct ProxyConnection {
    /// The number of bytes that were passed on.
    struct Moved: Equatable {
        var toClient = 0
        var toServer = 0
    }

    /// The number of bytes waiting on one side at which the other side is no longer read.
    static let bufferLimit = 256 << 10
    /// The longest time by which a client that doesn't read can delay its own reset.
    private static let resetPatience = Duration.seconds(2)
    /// The longest time that a reset waits for the client to send something. A reset that comes together with the connection
    /// looks like a refusal to clients that are slow to notice that they are connected, and like a reset to others.
    private static let silencePatience = Duration.seconds(5)
    /// The largest number of rounds of reading for one connection before the next one's turn.
    private static let roundsPerTurn = 8

    let client: any ProxyStream
    private(set) var server: ServerSide
    private var downstream: Downstream
    private(set) var moved = Moved()
    private(set) var isOver = false

    private var isConnectingStarted = false
    private(set) var clientHasEnded = false
    private(set) var serverHasEnded = false
    private(set) var isClientBlocked = false
    /// Indicates whether FIN is to be sent to the client. `hasFinished` says whether it was.
    private var isFinishing = false
    private(set) var hasFinished = false
    /// Indicates whether the bytes that a side sends are discarded.
    private var dropsServersBytes = false
    private var dropsClientsBytes = false
    private var isStalled = false
    /// Indicates whether the client accepts no more bytes. Bytes that it sent earlier may still be readable.
    private(set) var isClientDeaf = false
    /// The time at which a pending reset happens even if the client's system hasn't acknowledged everything sent before.
    private var resetDeadline: Instant?
    /// Indicates whether the reset still waits for the client to send something, as found in this turn. Checking again before
    /// polling could find the client's first bytes, and then nothing would be polled for.
    private(set) var isWaitingForClient = false
    private let start: Instant

    init(client: any ProxyStream, to addresses: [SocketAddress], faults: [Fault], at now: Instant) {
        self.client = client
        start = now
        server = ServerSide(addresses: addresses)
        downstream = Downstream(FaultPlan(faults))
    }

    mutating func add(_ fault: Fault) { downstream.add(fault) }
    mutating func heal() { downstream.heal() }

    // MARK: A turn

    /// Does everything that can be done now. Returns the time to call again even if nothing happens; `nil` stands for never.
    mutating func advance(at now: Instant, with buffer: UnsafeMutableRawBufferPointer) -> Instant? {
        // The connection was cut in the meantime, and its descriptors may already be another connection's.
        guard !isOver else { return nil }
        var wake = handOn(at: now)
        for _ in 0..<Self.roundsPerTurn where !isOver {
            connect(at: now)
            moved.toServer += server.send(thenFinish: clientHasEnded || dropsClientsBytes)
            wake = handOn(at: now)
            endIfDone()
            guard !isOver else { break }
            let fromClient = readClient(into: buffer)
            let fromServer = readServer(into: buffer, at: now)
            if !fromClient, !fromServer { return wake }
        }
        return isOver ? nil : now
    }

    private mutating func connect(at now: Instant) {
        // A connection that is reset from the start needs no server.
        guard resetDeadline == nil else { return }
        let isPossible =
            if !isConnectingStarted { server.connect() } else { !server.isConnecting || server.settleConnecting() }
        isConnectingStarted = true
        if !isPossible { serverEnded(.reset, at: now) }
    }

    private mutating func serverEnded(_ how: Downstream.End, at now: Instant) {
        serverHasEnded = true
        if how == .reset { server.close() }
        downstream.finish(how, at: now)
    }

    /// Closes the connection once both sides have sent everything.
    private mutating func endIfDone() {
        let clientGotTheEnd = hasFinished || isStalled
        guard clientHasEnded, serverHasEnded, clientGotTheEnd, server.isDone else { return }
        close()
    }

    // MARK: To the client

    private mutating func handOn(at now: Instant) -> Instant? {
        isClientBlocked = false
        if client.hasUnsent {
            switch client.flush() {
            case .bytes: break
            case .notYet: isClientBlocked = true
            case .broken: clientIsDeaf()
            }
        }
        if isFinishing { _ = finish() }
        isStalled = false
        while !isOver, !isClientDeaf, resetDeadline == nil {
            switch downstream.next(at: now) {
            case .pass(let bytes):
                guard client.isReady, pass(bytes, at: now) else { return nil }
            case .wait(let time):
                return time
            case .stop(.stall):
                isStalled = true
                return nil
            case .stop(.reset), .end(.reset):
                resetDeadline = now + Self.resetPatience
            case .stop(.halfClose):
                dropsServersBytes = true
                return finish()
            case .stop(.truncate):
                dropsServersBytes = true
                dropsClientsBytes = true
                return finish()
            case .end(.finished):
                if !isFinishing { client.sendCloseNotify() }
                return finish()
            }
        }
        return resetIfPossible(at: now)
    }

    private mutating func pass(_ bytes: Int, at now: Instant) -> Bool {
        switch client.send(downstream.queue, atMost: bytes) {
        case .bytes(let sent):
            downstream.pass(sent, at: now)
            moved.toClient += sent
            return true
        case .notYet:
            isClientBlocked = true
        case .broken:
            clientIsDeaf()
        }
        return false
    }

    private mutating func clientIsDeaf() {
        // There is nothing to read from it, either.
        if clientHasEnded { return clientIsGone() }
        isClientDeaf = true
        dropsServersBytes = true
    }

    /// Sends FIN once everything is sent; called again until then.
    private mutating func finish() -> Instant? {
        isFinishing = true
        downstream.discard()
        if !hasFinished, !client.hasUnsent {
            hasFinished = true
            Sockets.finish(client.descriptor)
        }
        return nil
    }

    private mutating func resetIfPossible(at now: Instant) -> Instant? {
        guard !isOver, let resetDeadline else { return nil }
        // This only peeks at the socket, because a handshake must not begin.
        isWaitingForClient =
            now < start + Self.silencePatience && !client.hasReceived && !clientHasEnded && !Sockets.hasBytes(client.descriptor)
        if isWaitingForClient { return start + Self.silencePatience }
        let isSent = !client.hasUnsent && Sockets.unacknowledged(client.descriptor) == 0
        guard isSent || now >= resetDeadline else { return now + .milliseconds(1) }
        reset()
        return nil
    }

    // MARK: Reading

    var wantsToReadClient: Bool {
        !clientHasEnded && resetDeadline == nil && (dropsClientsBytes || server.queue.count < Self.bufferLimit)
    }

    var wantsToReadServer: Bool {
        server.canReceive && !serverHasEnded && resetDeadline == nil
            && (dropsServersBytes || downstream.queue.count < Self.bufferLimit)
    }

    private mutating func readClient(into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        guard wantsToReadClient else { return false }
        let wasReady = client.isReady
        let received = client.receive(into: buffer)
        if client.hasRefused { refuse() }
        switch received {
        case .bytes(let count):
            if !dropsClientsBytes { server.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
        case .nothingYet: return client.isReady != wasReady
        case .end:
            clientHasEnded = true
            // Nothing can be sent to the client, for example because it never completed the handshake.
            if !client.isReady || isClientDeaf { clientIsGone() }
        case .reset: clientIsGone()
        }
        return true
    }

    private mutating func readServer(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Bool {
        guard wantsToReadServer else { return false }
        switch Sockets.receive(server.descriptor, into: buffer) {
        case .bytes(let count):
            if !dropsServersBytes { downstream.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now) }
        case .nothingYet: return false
        case .end: serverEnded(.finished, at: now)
        case .reset: serverEnded(.reset, at: now)
        }
        return true
    }

    // MARK: Ending

    /// Ends a connection as servers do when the handshake with a client fails: with the alert, then FIN. Reading goes on, because
    /// a reset caused by unread bytes from the client could overtake both.
    private mutating func refuse() {
        dropsServersBytes = true
        dropsClientsBytes = true
        _ = finish()
    }

    /// Resets both sides because the client is gone, so that the server notices, too.
    mutating func clientIsGone() {
        reset()
    }

    /// Resets both sides now.
    mutating func reset() {
        guard !isOver else { return }
        isOver = true
        Sockets.reset(client.descriptor)
        server.reset()
    }

    /// Closes both sides.
    mutating func close() {
        guard !isOver else { return }
        isOver = true
        Sockets.close(client.descriptor)
        server.close()
    }
}
