import Dispatch

/// How a client's listeners are called.
struct ListenerCalls: Sendable {
    /// The queue on which the application is called; nil to call it at once, on the draining thread.
    let queue: DispatchQueue?
    let decoder: EventDecoder?
    /// The number of changes to the listeners, for deliveries that looked them up earlier.
    let changes = ChangeCount()
}
