/// What a client's machine has put out, on its way.
struct Router {
    /// The memory of the outputs that were routed last, to be used again.
    var memory: [Output] = []
    /// The arrival time of the data being handled, if it waited; nil for now.
    var arrival: Instant?
    /// The deliveries of the change that is being routed.
    var deliveries: [Delivery] = []
    /// The deliveries that the draining thread has to make.
    var batches: [UndeliveredBatch] = []
    /// What goes to the delivery queue, in the order in which it happened.
    private(set) var hops = Deque<Hop>()
    /// The number of hops to be made once the lock is free. Made under the lock, they would wake a thread that then waits for it.
    private(set) var hopsDue = 0
    /// The closures that resume whoever waited for what the change brought.
    var wakeUps: [() -> Void] = []
    /// Indicates whether the machine was last told that readers are behind.
    var areReadersOver = false
}

extension Router {
    /// What the delivery queue does for one of its hops. Whichever comes first does what is first.
    enum Hop {
        case deliver(UndeliveredBatch, bytes: Int, since: Instant)
        case call(@Sendable () -> Void)
    }

    mutating func queue(_ hop: Hop) {
        hops.append(hop)
        hopsDue += 1
    }

    mutating func takeHop() -> Hop? { hops.popFirst() }

    /// Returns the number of hops that the caller makes when the lock is free.
    mutating func takeHopsDue() -> Int {
        defer { hopsDue = 0 }
        return hopsDue
    }
}

/// Deliveries that came together.
struct UndeliveredBatch {
    var deliveries: [Delivery]
    /// The number of channel listeners made so far. Later ones don't get these deliveries.
    let listenersMade: Int
}
