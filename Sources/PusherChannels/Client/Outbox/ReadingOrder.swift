/// The order to read or to pause reading, until the socket has it.
///
/// It doesn't wait its turn behind other commands: the thread that carries them out may be busy in the application's code for a
/// long time, and streams would grow meanwhile.
struct ReadingOrder: Sendable {
    /// The latest order, which supersedes those before it.
    var wanted: Bool?
    /// Indicates whether a thread is passing on orders. It finds later orders, too, so the last one wins.
    private var isUnderWay = false

    /// Supersedes earlier orders when an attempt begins or ends: they were for the previous one, and the server's next messages
    /// have to be read.
    mutating func forgetEarlier() {
        if wanted != nil || isUnderWay { wanted = true }
    }

    /// Returns whether the caller has to pass on the order.
    mutating func begin() -> Bool {
        guard wanted != nil, !isUnderWay else { return false }
        isUnderWay = true
        return true
    }

    /// Takes the next order to pass on; returns nil if there is none.
    mutating func next() -> Bool? {
        isUnderWay = wanted != nil
        return wanted.take()
    }
}
