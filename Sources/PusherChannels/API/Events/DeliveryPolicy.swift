import Dispatch

/// The queue or thread on which a client calls the application's closures and its delegate.
public enum DeliveryPolicy: Sendable {
    /// On a serial queue of the client's own, which it makes with itself: clients made from one value of options have one each.
    case privateQueue
    /// On this queue, one hop for all that one read of the socket brought. Give a serial queue: the order of events is the
    /// queue's. Clients that are given the same one wait for each other's closures.
    case queue(DispatchQueue)
    /// At once, mostly on the thread that brought the event: fast, and right for tests; a callback that blocks stops the connection and,
    /// on Linux, all other connections of its loop. While one thread is in a callback, what others bring waits for it, however much that
    /// is: so a callback may run on a thread that calls the client, before that call returns. Hold no lock there that a callback takes.
    case immediate
}

extension DeliveryPolicy {
    /// Returns the queue for one client; nil where calls are made at once.
    func makeQueue() -> DispatchQueue? {
        switch self {
        case .privateQueue: DispatchQueue(label: "pusher-channels.delivery")
        case .queue(let queue): queue
        case .immediate: nil
        }
    }
}
