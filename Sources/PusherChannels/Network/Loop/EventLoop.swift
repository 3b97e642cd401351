#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// Hears what happens to a socket that a loop watches.
protocol SocketHandler: AnyObject {
    /// The socket can be read or written, or its connection is gone.
    func socketReady(_ events: SocketEvents)

    /// The loop ends: the socket is to be closed.
    func cut()
}

/// A part of the network that lives on a loop's thread, made there when it is first needed.
protocol LoopService: AnyObject {
    init(loop: EventLoop)

    /// Ends at once all that it serves, with a report to everybody concerned.
    func shutDown()
}

/// Sockets, timers and deferred work of one thread. Confined to that thread: it isn't `Sendable`, and only commands get to see it.
final class EventLoop {
    /// The way to this loop from other threads.
    let owner: NetworkLoop
    let environment: NetworkEnvironment
    let timers: LoopTimers
    /// The memory for one read, which brings no more: the more messages in a turn, the fewer delegate calls. One serves all sockets: whoever
    /// hears of bytes is done with them when it returns.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    /// The time when the sockets were last asked what they have to tell.
    private(set) var turnTime: Instant
    /// The reason why nothing can be served; nil if all is well.
    private(set) var failure: WebSocketFailure?
    private var poller: SocketPoller?
    private var libwebsockets: LibwebsocketsContext?
    private var services: [ObjectIdentifier: any LoopService] = [:]
    private var handlers: [SocketNumber: any SocketHandler] = [:]
    private var lastNumber: SocketNumber = 0
    private var deferred: [() -> Void] = []

    /// Creates a loop that only tells everybody why it doesn't serve.
    init(owner: NetworkLoop, failure: WebSocketFailure?) {
        self.owner = owner
        self.failure = failure
        environment = owner.environment
        timers = LoopTimers(now: environment.now)
        turnTime = environment.now()
    }

    /// Creates a loop that serves, if it can get what that takes.
    convenience init(owner: NetworkLoop) {
        self.init(owner: owner, failure: nil)
        do throws(SystemError) {
            let poller = try SocketPoller()
            let libwebsockets = LibwebsocketsContext(for: self, watching: poller.descriptor)
            if libwebsockets.context == nil {
                failure = .noLoop("libwebsockets is short of descriptors or memory")
            } else {
                (self.poller, self.libwebsockets) = (poller, libwebsockets)
            }
        } catch {
            failure = .noLoop(error.text)
        }
    }

    deinit {
        readBuffer.deallocate()
    }

    /// Ends ``wait(_:)``, from any thread; nil if nothing is served.
    var wakeUp: WakeUp? { poller?.wakeUp }

    // MARK: Services

    /// The service of a type.
    func service<Service: LoopService>(_ type: Service.Type = Service.self) -> Service {
        if let service = services[ObjectIdentifier(type)] as? Service { return service }
        let service = Service(loop: self)
        services[ObjectIdentifier(type)] = service
        return service
    }

    /// Ends all that is left, and lets go of what refers to it: much of that refers to the loop.
    func shutDown() {
        for service in services.values { service.shutDown() }
        for handler in handlers.values { handler.cut() }
        (libwebsockets, poller) = (nil, nil)
        services = [:]
        deferred = []
    }

    // MARK: Sockets

    /// Begins to tell a handler what happens to a socket. Its number is no other's: what is told of one that is gone reaches nobody.
    func watch(_ socket: Int32, for events: SocketEvents, _ handler: any SocketHandler) throws(SystemError) -> SocketNumber {
        lastNumber += 1
        guard let poller else { throw SystemError(number: EBADF) }
        try poller.add(socket, as: lastNumber, for: events)
        handlers[lastNumber] = handler
        return lastNumber
    }

    func change(_ number: SocketNumber, _ socket: Int32, for events: SocketEvents) {
        poller?.change(socket, as: number, for: events)
    }

    func unwatch(_ number: SocketNumber, _ socket: Int32) {
        poller?.remove(socket)
        handlers[number] = nil
    }

    /// Tells the handlers what happened to their sockets.
    func serveSockets() {
        turnTime = environment.now()
        poller?.forEachReady { number, events in handlers[number]?.socketReady(events) }
    }

    // MARK: Turns

    /// The time that a turn may last.
    enum Wait {
        /// Until something happens, or is due.
        case untilNext
        /// Only to see what happened.
        case notAtAll
    }

    func wait(_ wait: Wait) {
        guard let poller, let context = libwebsockets?.context else { return }
        timers.arm(in: context, wakingUp: poller.wakeUp)
        lws_service(context, wait == .notAtAll ? -1 : 0)
    }

    /// Defers work until the sockets and commands of this turn are through.
    func later(_ work: @escaping () -> Void) {
        deferred.append(work)
    }

    /// Does what was deferred and is due; returns whether there is more to do at once.
    func settle() -> Bool {
        let work = deferred
        deferred.removeAll(keepingCapacity: true)
        for action in work { action() }
        timers.runDue()
        return !deferred.isEmpty
    }
}

extension WebSocketFailure {
    /// There can be no loop, for now.
    static func noLoop(_ reason: String) -> WebSocketFailure {
        WebSocketFailure(.unreachable, "Can't start what serves connections: \(reason)")
    }
}
#endif
