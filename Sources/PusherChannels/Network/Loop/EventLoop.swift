#if canImport(CLibwebsockets)
import CLibwebsockets
import Glibc

/// Receives the events of a socket that a loop watches.
protocol SocketHandler: AnyObject {
    /// The socket can be read or written, or its connection is gone.
    func socketReady(_ events: SocketEvents)

    /// The loop ends, and the socket must be closed.
    func cut()
}

/// A part of the network stack that lives on a loop's thread, where it is made when it is first needed.
protocol LoopService: AnyObject {
    init(loop: EventLoop)

    /// Ends at once everything that it serves, and reports that to everybody concerned.
    func shutDown()
}

/// The sockets, timers and deferred work of one thread. Confined to that thread: it isn't `Sendable`, and only commands have
/// access to it.
final class EventLoop {
    /// The interface to this loop for other threads.
    let owner: NetworkLoop
    let environment: NetworkEnvironment
    let timers: LoopTimers
    /// The memory for one read, and thereby its largest size: the more messages in a turn, the fewer delegate calls. All sockets
    /// share it, because handlers are done with the bytes when they return.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

    /// The time when the sockets were last asked for events.
    private(set) var turnTime: Instant
    /// The reason why nothing can be served; nil if all is well.
    private(set) var failure: TransportError?
    private var poller: SocketPoller?
    private var libwebsockets: LibwebsocketsContext?
    private var services: [ObjectIdentifier: any LoopService] = [:]
    private var handlers: [SocketNumber: any SocketHandler] = [:]
    private var lastNumber: SocketNumber = 0
    private var deferred: [() -> Void] = []

    /// Creates a loop that serves nothing, and only tells everybody why.
    init(owner: NetworkLoop, failure: TransportError?) {
        self.owner = owner
        self.failure = failure
        environment = owner.environment
        timers = LoopTimers(now: environment.now)
        turnTime = environment.now()
    }

    /// Creates a loop that serves, if the system has the resources for it.
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

    /// Returns the service of a type, and makes it if necessary.
    func service<Service: LoopService>(_ type: Service.Type = Service.self) -> Service {
        if let service = services[ObjectIdentifier(type)] as? Service { return service }
        let service = Service(loop: self)
        services[ObjectIdentifier(type)] = service
        return service
    }

    /// Ends everything that is left, and releases the references to it, because much of it refers to the loop.
    func shutDown() {
        for service in services.values { service.shutDown() }
        for handler in handlers.values { handler.cut() }
        (libwebsockets, poller) = (nil, nil)
        services = [:]
        deferred = []
    }

    // MARK: Sockets

    /// Starts to report a socket's events to a handler. Returns a number that is never used again, so late events of a closed
    /// socket reach nobody.
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

    /// Calls the handlers of the sockets that have events.
    func serveSockets() {
        turnTime = environment.now()
        poller?.forEachReady { number, events in handlers[number]?.socketReady(events) }
    }

    // MARK: Turns

    /// The time to wait for events.
    enum Wait {
        /// Until something happens, or is due.
        case untilNext
        /// Not at all, only to see what happened.
        case notAtAll
    }

    func wait(_ wait: Wait) {
        guard let poller, let context = libwebsockets?.context else { return }
        timers.arm(in: context, wakingUp: poller.wakeUp)
        lws_service(context, wait == .notAtAll ? -1 : 0)
    }

    /// Defers work until the sockets and commands of this turn are done.
    func later(_ work: @escaping () -> Void) {
        deferred.append(work)
    }

    /// Does the work that was deferred or is due; returns whether there is more to do at once.
    func settle() -> Bool {
        let work = deferred
        deferred.removeAll(keepingCapacity: true)
        for action in work { action() }
        timers.runDue()
        return !deferred.isEmpty
    }
}

extension TransportError {
    /// Returns the failure to report if there can be no loop for now.
    static func noLoop(_ reason: String) -> TransportError {
        TransportError(.unreachable, "Can't start what serves connections: \(reason)")
    }
}
#endif
