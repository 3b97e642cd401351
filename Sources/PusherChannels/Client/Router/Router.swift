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
    /// The closures that resume whoever waited for what the change brought.
    var wakeUps: [() -> Void] = []
    /// Indicates whether the machine was last told that readers are behind.
    var areReadersOver = false
}

/// Deliveries that came together.
struct UndeliveredBatch {
    var deliveries: [Delivery]
    /// The number of channel listeners made so far. Later ones don't get these deliveries.
    let listenersMade: Int
}
