import PusherChannels

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The reply to a request.
enum ServerReply: Sendable {
    case response(StubResponse)
    /// A WebSocket from here on, with the answer to binary messages; `nil` for 1003.
    case upgrade(
        accept: String, binaryAnswer: ServerProfile.Answer? = nil, begin: @Sendable (FrameQueue) -> any WebSocketSession)
}

/// One WebSocket at the server's end, which sends by a queue. Its methods are called on the server's thread.
protocol WebSocketSession: Sendable {
    /// Takes a message or a ping.
    func receive(_ message: ClientMessage)
    /// Nothing more is read; what is sent ends with `reply`, unless a close frame was sent before. Must finish the queue.
    func end(saying reply: OutgoingFrame?)
}

/// The settings and closures that a connection has from its server.
struct ServerTerms: Sendable {
    /// The largest number of bytes of a request's body or a message.
    let limit: Int
    /// The time that a client has for the end of its connection.
    let closeTimeout: Duration
    /// Indicates whether the server no longer listens once it can't accept a connection. A test's tries again.
    var endsIfDeaf = false
    /// Replies to a request, in a task of its own.
    let reply: @Sendable (ServerRequest) async -> ServerReply
    /// Hears of what isn't a request; its head is `nil` if that can't be read.
    let refuse: @Sendable (RequestHead?, RequestRefusal) -> Void
}

/// The server's end of one TCP connection: requests and their responses, one after the other, or a WebSocket. Used on the server's
/// thread only.
final class ServerConnection {
    private enum Phase {
        case request
        /// A reply is awaited; nothing is read.
        case reply
        case webSocket
        /// Nothing new is said: what is left to send, then FIN. What the client still sends is skipped until it ends its side, too:
        /// closing a connection with unread bytes would reset it, and the client might lose the end of what was sent.
        case ending
        case over
    }

    /// The largest number of times that one connection is sent to before the next one's turn.
    private static let roundsPerTurn = 16
    /// The number of bytes up to which frames are sent together.
    private static let batch = 1 << 16

    private let descriptor: Int32
    private let terms: ServerTerms
    private let handOver: @Sendable (ServerReply) -> Void
    private let wake: @Sendable () -> Void

    private var phase = Phase.request
    private var reader: RequestReader
    private var head: RequestHead?
    private var task: Task<Void, Never>?
    private var session: (any WebSocketSession)?
    private var queue: FrameQueue?
    private var frames: ClientFrames
    /// The bytes that came after a request, before its reply.
    private var leftover: [UInt8] = []
    private var output = ByteQueue()
    private var hasFinished = false
    private var clientHasEnded = false
    private var isStopping = false
    private var patience: ClosePatience?

    /// - Parameters:
    ///   - handOver: Makes the thread call ``take(_:at:)`` with a reply, from any thread.
    ///   - wake: Makes the thread call ``advance(at:with:)``, from any thread.
    init(
        _ descriptor: Int32, _ terms: ServerTerms, handOver: @escaping @Sendable (ServerReply) -> Void,
        wake: @escaping @Sendable () -> Void
    ) {
        self.descriptor = descriptor
        self.terms = terms
        self.handOver = handOver
        self.wake = wake
        reader = RequestReader(bodyLimit: terms.limit)
        frames = ClientFrames(limit: terms.limit)
    }

    // MARK: Waiting

    /// Indicates whether nothing is left of the connection, nor of the task that replies to its last request.
    var isOver: Bool { phase == .over && task == nil }

    /// Indicates whether there is something to do at the next turn.
    var isTouched = true

    /// The time at which there is something to do in any case.
    var deadline: Instant? { phase == .over ? nil : patience?.check }

    var polled: pollfd {
        guard phase != .over else { return pollfd(fd: -1, events: 0, revents: 0) }
        return pollfd(
            fd: descriptor, events: Int16(isReading ? POLLIN : 0) | Int16(output.isEmpty ? 0 : POLLOUT), revents: 0)
    }

    private var isReading: Bool {
        switch phase {
        case .request, .webSocket, .ending: !clientHasEnded
        case .reply, .over: false
        }
    }

    // MARK: Turns

    /// Does everything that can be done now.
    func advance(at now: Instant, with buffer: UnsafeMutableRawBufferPointer) {
        isTouched = false
        guard phase != .over else { return }
        write(at: now)
        if isReading { read(into: buffer, at: now) }
        write(at: now)
        checkPatience(at: now)
    }

    /// Takes what was polled.
    func look(at polled: pollfd) {
        guard polled.revents != 0 else { return }
        isTouched = true
        // While a reply is awaited, only this says that the client is gone.
        if polled.events == 0 { clientIsGone() }
    }

    /// Takes the reply to the request that was read.
    func take(_ reply: ServerReply, at now: Instant) {
        task = nil
        guard phase == .reply, let head else { return }
        switch reply {
        case .response(let response):
            respond(response, to: head, keepsAlive: head.keepsAlive && !isStopping, at: now)
        case .upgrade(let accept, let binaryAnswer, let begin):
            guard !isStopping else { return close() }
            let fields = ["Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Accept": accept]
            output.append(StubResponse(status: 101, headers: fields).head(length: nil))
            let queue = FrameQueue(wake: wake)
            self.queue = queue
            frames = ClientFrames(limit: terms.limit, binaryAnswer: binaryAnswer)
            session = begin(queue)
            phase = .webSocket
        }
        // What the client said without waiting for the reply.
        var bytes = leftover
        leftover = []
        bytes.withUnsafeMutableBytes { take($0, at: now) }
    }

    // MARK: Sending

    private func write(at now: Instant) {
        // Others have their turn before all of a long queue is sent.
        for _ in 0..<Self.roundsPerTurn {
            fillOutput()
            guard !output.isEmpty else { break }
            switch Sockets.send(descriptor, &output) {
            case .bytes: patience?.isReading = true
            case .notYet: return
            case .broken: return clientIsGone()
            }
        }
        fillOutput()
        guard phase == .ending, output.isEmpty, !hasFinished else { return }
        hasFinished = true
        guard !clientHasEnded else { return close() }
        Sockets.finish(descriptor)
        patience = ClosePatience(terms.closeTimeout, from: now)
    }

    private func fillOutput() {
        while output.count < Self.batch, let frame = queue?.next() { output.append(frame.bytes) }
    }

    private func respond(_ response: StubResponse, to head: RequestHead?, keepsAlive: Bool, at now: Instant) {
        output.append(response.bytes(to: head, keepsAlive: keepsAlive))
        if keepsAlive { phase = .request } else { finish(at: now) }
    }

    // MARK: Reading

    private func read(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) {
        switch Sockets.receive(descriptor, into: buffer) {
        case .bytes(let count): take(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: now)
        case .nothingYet: break
        case .reset: clientIsGone()
        case .end:
            clientHasEnded = true
            if hasFinished { close() } else { endSession(saying: nil, at: now) }
        }
    }

    private func take(_ bytes: UnsafeMutableRawBufferPointer, at now: Instant) {
        switch phase {
        case .request: readRequest(UnsafeRawBufferPointer(bytes), at: now)
        case .webSocket: readFrames(bytes, at: now)
        case .reply, .ending, .over: break
        }
    }

    private func readRequest(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        var cursor = ByteCursor(bytes)
        do throws(RequestRefusal) {
            guard let request = try reader.read(&cursor) else {
                if reader.takeExpectation() { output.append(StubResponse(status: 100).head(length: nil)) }
                return
            }
            leftover = Array(cursor.take(upTo: cursor.remaining))
            head = request.head
            phase = .reply
            task = Task { [terms, handOver] in handOver(await terms.reply(request)) }
            reader = RequestReader(bodyLimit: terms.limit)
        } catch {
            terms.refuse(reader.head, error)
            respond(StubResponse(status: error.status, text: error.reason + "\n"), to: reader.head, keepsAlive: false, at: now)
        }
    }

    private func readFrames(_ bytes: UnsafeMutableRawBufferPointer, at now: Instant) {
        var reply: OutgoingFrame?
        frames.read(bytes) { message in
            if case .end(let frame) = message { reply = frame } else { session?.receive(message) }
        }
        if let reply { endSession(saying: reply, at: now) }
    }

    // MARK: Ending

    /// Ends the connection of a client that is gone.
    func clientIsGone() {
        session?.end(saying: nil)
        session = nil
        close()
    }

    /// Ends what can be ended. A task that replies to a request is waited for.
    func stop() {
        isStopping = true
        task?.cancel()
        if phase != .reply { clientIsGone() }
    }

    private func endSession(saying reply: OutgoingFrame?, at now: Instant) {
        session?.end(saying: reply)
        session = nil
        finish(at: now)
    }

    private func finish(at now: Instant) {
        phase = .ending
        patience = ClosePatience(terms.closeTimeout, from: now)
    }

    private func close() {
        guard phase != .over else { return }
        phase = .over
        Sockets.close(descriptor)
        // Whatever waits must not be sent: the descriptor may be another connection's by then.
        queue = nil
        output.removeAll()
    }

    private func checkPatience(at now: Instant) {
        if phase == .webSocket, let queue {
            if queue.isCut { return endSession(saying: nil, at: now) }
            if queue.isClosing, patience == nil { patience = ClosePatience(terms.closeTimeout, from: now) }
        }
        guard patience?.isOver(at: now, isSaid: output.isEmpty) == true else { return }
        if !output.isEmpty {
            // What a client doesn't read must not stay in the system's buffers either.
            Sockets.resetOnClose(descriptor)
            clientIsGone()
        } else if phase == .webSocket {
            endSession(saying: nil, at: now)
        } else {
            close()
        }
    }
}
