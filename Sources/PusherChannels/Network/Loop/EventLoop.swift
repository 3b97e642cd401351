#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// Names one stream of a loop.
typealias StreamNumber = UInt

/// What a loop's thread works with. Confined to that thread: it isn't `Sendable`, and only commands get to see it.
final class EventLoop {
    let loop: NetworkLoop
    let timers = LoopTimers()
    let certificates = TLSContexts()
    var openings = ConnectLimiter()
    let http = HTTPClient()
    /// What one read brings at most: the more messages in a turn, the fewer delegate calls. One serves all streams: whoever
    /// hears of bytes is done with them when it returns.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    private(set) var turns = ReadingTurns(at: LiveScheduler.now)
    /// Why nothing can be served; nil if all is well.
    private(set) var failure: WebSocketFailure?
    private var sockets: SocketPoller?
    private var libwebsockets: LibwebsocketsContext?
    /// The connections that can be commanded: those that haven't reported their end.
    private var connections: [ConnectionKey: WebSocketConnection] = [:]
    private var streams: [StreamNumber: SocketStream] = [:]
    private var lastNumber: StreamNumber = 0
    private var lookups: [ConnectionKey: (AddressResolver.Answer) -> Void] = [:]

    // What is to be done once libwebsockets and the commands are through.
    private var unflushed: [WebSocketConnection] = []
    private var unread: [SocketStream] = []
    private var broken: [SocketStream] = []

    /// One that serves, if it can get what that takes.
    init(loop: NetworkLoop) {
        self.loop = loop
        do throws(SystemError) {
            let sockets = try SocketPoller()
            let libwebsockets = LibwebsocketsContext(for: self, watching: sockets.descriptor)
            if libwebsockets.context == nil {
                failure = .noLoop("libwebsockets is short of descriptors or memory")
            } else {
                (self.sockets, self.libwebsockets) = (sockets, libwebsockets)
            }
        } catch {
            failure = .noLoop(error.text)
        }
    }

    /// One that only tells everybody why it doesn't.
    init(loop: NetworkLoop, failure: WebSocketFailure) {
        self.loop = loop
        self.failure = failure
    }

    deinit {
        readBuffer.deallocate()
    }

    /// What ends ``wait(_:)``; nil if nothing is served.
    var wakeUp: WakeUp? { sockets?.wakeUp }

    // MARK: Connections

    func connection(_ key: ConnectionKey) -> WebSocketConnection? { connections[key] }

    func open(
        _ request: WebSocketRequest, key: ConnectionKey, report: ConnectionReport, resolve: @escaping AddressResolver.Resolve
    ) {
        let connection = WebSocketConnection(service: self, key: key, report: report)
        connections[key] = connection
        connection.open(request, resolve: resolve)
    }

    /// Forgets a connection that has reported its end; its stream may live on for the closing handshake.
    func forget(_ key: ConnectionKey) {
        connections[key] = nil
    }

    /// Ends all that is left, and lets go of what refers to it: much of that refers to the service.
    func stop() {
        for connection in connections.values { connection.stop() }
        http.stop()
        for stream in streams.values { stream.cut() }
        (libwebsockets, sockets) = (nil, nil)
        openings = ConnectLimiter()
        lookups = [:]
        (unflushed, unread, broken) = ([], [], [])
    }

    /// Has a name looked up elsewhere; `completion` is called on this thread.
    func lookUp(
        _ host: String, with resolve: AddressResolver.Resolve, completion: @escaping (AddressResolver.Answer) -> Void
    ) {
        // A number of the loop, which other services had and may get: an answer can come after its service has ended.
        let key = loop.makeKey()
        lookups[key] = completion
        resolve(host) { [loop] answer in
            loop.post { $0.lookups.removeValue(forKey: key)?(answer) }
        }
    }

    // MARK: Streams

    /// Has a stream told what happens to its socket. Its number is no other's: what is told of one that is gone reaches nobody.
    func add(
        _ stream: SocketStream, with socket: TCPSocket, for events: SocketEvents
    ) throws(SystemError) -> StreamNumber {
        lastNumber += 1
        guard let sockets else { throw SystemError(number: EBADF) }
        try sockets.add(socket.descriptor, as: lastNumber, for: events)
        streams[lastNumber] = stream
        return lastNumber
    }

    func change(_ number: StreamNumber, with socket: TCPSocket, for events: SocketEvents) {
        sockets?.change(socket.descriptor, as: number, for: events)
    }

    func remove(_ number: StreamNumber, with socket: TCPSocket) {
        sockets?.remove(socket.descriptor)
        streams[number] = nil
    }

    /// How old a turn may be that tells which sockets have nothing to read.
    private static let oldestTurn = Duration.milliseconds(50)

    /// Tells the streams what happened to their sockets.
    func serveSockets() {
        let before = turns.lastComplete.time
        takeTurn { $0.happened($1) }
        // On a connection on which something comes now and then, each turn is one in which it has something to tell. Now nothing
        // is read: who was told something may have asked for a pause.
        if turns.current.time - before > Self.oldestTurn { takeTurn { $0.waits($1) } }
    }

    private func takeTurn(_ body: (SocketStream, SocketEvents) -> Void) {
        turns.begin(at: LiveScheduler.now)
        let isComplete = sockets?.forEachReady { number, events in
            if let stream = streams[number] { body(stream, events) }
        }
        turns.end(isComplete: isComplete ?? false)
    }

    // MARK: Turns

    /// How long a turn may last.
    enum Wait {
        /// Until something happens, or is due.
        case untilNext
        /// Only to see what happened.
        case notAtAll
    }

    func wait(_ wait: Wait) {
        guard let sockets, let context = libwebsockets?.context else { return }
        timers.arm(in: context, wakingUp: sockets.wakeUp)
        lws_service(context, wait == .notAtAll ? -1 : 0)
    }

    func flushLater(_ connection: WebSocketConnection) { unflushed.append(connection) }

    func readAgain(_ stream: SocketStream) { unread.append(stream) }

    func drainLater(_ stream: SocketStream) { broken.append(stream) }

    /// Does what was put off; whether there is more to do at once.
    func settle() -> Bool {
        for begin in openings.takeTurns() { begin() }
        for connection in take(&unflushed) { connection.flush() }
        for stream in take(&unread) { stream.readable() }
        for stream in take(&broken) { stream.drain() }
        timers.runDue()
        return !(openings.isEmpty && unflushed.isEmpty && unread.isEmpty && broken.isEmpty)
    }

    private func take<Element>(_ list: inout [Element]) -> [Element] {
        guard !list.isEmpty else { return [] }
        defer { list = [] }
        return list
    }
}

extension WebSocketFailure {
    /// There can be no loop, for now.
    static func noLoop(_ reason: String) -> WebSocketFailure {
        WebSocketFailure(.unreachable, "Can't start what serves connections: \(reason)")
    }
}
#endif
