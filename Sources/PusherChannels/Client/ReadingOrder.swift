/// The order to read on, or not to, until the socket has it.
///
/// It doesn't wait its turn behind what else has to be done: the thread that does that may be busy in the application's code for long, and
/// what streams hold would grow meanwhile.
struct ReadingOrder: Sendable {
    /// The latest order; those before it mean nothing any more.
    var wanted: Bool?
    /// Indicates whether a thread is at it, which finds later orders, too: so the last one stands.
    private var isUnderWay = false

    /// An attempt begins, or ends: an order that is on its way was for what was before, and the server's next words have to be read.
    mutating func forgetEarlier() {
        if wanted != nil || isUnderWay { wanted = true }
    }

    /// Returns whether the caller has to pass on the order.
    mutating func begin() -> Bool {
        guard wanted != nil, !isUnderWay else { return false }
        isUnderWay = true
        return true
    }

    /// Takes what to pass on next; nil when that is all.
    mutating func next() -> Bool? {
        isUnderWay = wanted != nil
        return wanted.take()
    }
}

extension ClientCore {
    /// Passes on what was ordered, outside the lock, until that is all.
    func orderReading() {
        // Each attempt begins with reading on: without a socket there is nothing to say.
        while let (reading, socket) = withState({ state in state.reading.next().map { ($0, state.socket) } }) {
            socket?.setReading(reading)
        }
    }
}
