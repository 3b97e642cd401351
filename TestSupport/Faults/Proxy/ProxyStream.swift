import PusherChannels

/// The client's end of a connection: the bytes that the client sends and receives, with or without TLS.
protocol ProxyStream: AnyObject {
    var descriptor: Int32 { get }

    /// Indicates whether ``send(_:atMost:)`` has accepted bytes that the system hasn't accepted yet.
    var hasUnsent: Bool { get }

    /// Indicates whether anything has come from the client, even if it is only part of a handshake.
    var hasReceived: Bool { get }

    /// Indicates whether bytes can be sent, that is, whether any handshake is complete.
    var isReady: Bool { get }

    /// Indicates whether the client violated the protocol above TCP and was told so (by a TLS alert). From then on, only the end
    /// of the connection is reported; other bytes are ignored.
    var hasRefused: Bool { get }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Sockets.Received

    /// Sends bytes from the front of a queue. All bytes that it reports as sent will be sent.
    func send(_ queue: ByteQueue, atMost limit: Int) -> Sockets.Sent

    /// Sends the remaining bytes.
    func flush() -> Sockets.Sent

    /// Sends the close message of the protocol above TCP, if that has one. It doesn't send FIN.
    func sendCloseNotify()
}

/// A stream without TLS.
final class PlainStream: ProxyStream {
    let descriptor: Int32
    let hasUnsent = false
    let isReady = true
    let hasRefused = false
    private(set) var hasReceived = false

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Sockets.Received {
        let received = Sockets.receive(descriptor, into: buffer)
        if case .bytes = received { hasReceived = true }
        return received
    }

    func send(_ queue: ByteQueue, atMost limit: Int) -> Sockets.Sent {
        queue.withPrefix(limit) { Sockets.send(descriptor, $0) }
    }

    func flush() -> Sockets.Sent { .bytes(0) }

    func sendCloseNotify() {}
}
