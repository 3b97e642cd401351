import Dispatch

/// Where a client calls the application's closures and its delegate.
public enum DeliveryPolicy: Sendable {
    /// On this queue, one hop for all that one read of the socket brought. Give a serial queue: the order of events is the
    /// queue's.
    case queue(DispatchQueue)
    /// At once, on the thread that brought the event: fast, and right for tests; a callback that blocks stops the
    /// connection and, on Linux, all other connections of its loop.
    case immediate
}
