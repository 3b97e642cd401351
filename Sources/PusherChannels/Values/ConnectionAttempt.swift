/// One try at being connected: a number that grows with every socket opened for a connection.
///
/// Whatever a socket reports carries the attempt it belongs to, so that a late report of an earlier socket can be told
/// from news about the current one.
public struct ConnectionAttempt: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The attempt's number, 1 for the first.
    public let number: Int

    /// Creates the attempt with a number; sockets are given theirs, only test doubles make them.
    public init(_ number: Int) {
        self.number = number
    }

    /// The attempt that follows this one.
    package var next: ConnectionAttempt { ConnectionAttempt(number + 1) }

    /// Returns whether the left attempt was made before the right one.
    public static func < (left: ConnectionAttempt, right: ConnectionAttempt) -> Bool {
        left.number < right.number
    }

    /// `#3`, as log lines show it.
    public var description: String { "#\(number)" }
}
