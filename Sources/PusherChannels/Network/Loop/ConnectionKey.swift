/// Names one connection, and with it one `open` of a socket.
struct ConnectionKey: Hashable, Sendable {
    let number: UInt64
}
