import Dispatch

/// The queue or thread on which a client calls the application's closures and its delegate.
public enum DeliveryPolicy: Sendable {
    /// A serial queue that each client creates for itself, even if clients share one value of options.
    case privateQueue
    /// This queue, with one hop for everything that one read of the socket brought. Use a serial queue, because events have the
    /// queue's order. Clients with the same queue wait for each other's closures.
    case queue(DispatchQueue)
    /// Immediately, mostly on the thread that received the event: fast, and suited to tests. A callback that blocks stops the
    /// connection and, on Linux, all other connections of its loop. While a callback runs on one thread, events that other
    /// threads bring wait for it, without limit. A callback may therefore run on a thread that calls the client, before that call
    /// returns: don't hold a lock there that a callback takes.
    case immediate
}

extension DeliveryPolicy {
    /// Returns the queue for one client; nil if calls are made immediately.
    func makeQueue() -> DispatchQueue? {
        switch self {
        case .privateQueue: DispatchQueue(label: "pusher-channels.delivery")
        case .queue(let queue): queue
        case .immediate: nil
        }
    }
}
