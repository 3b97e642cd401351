import PusherChannels

/// The client's end of a connection: what the client sends and gets, be it wrapped in TLS or not.
protocol ProxyStream: AnyObject {
    var descriptor: Int32 { get }

    /// Indicates whether something was taken by ``send(_:atMost:)`` that the system hasn't taken yet.
    var hasUnsent: Bool { get }

    /// Indicates whether anything came from the client, be it a part of a handshake.
    var hasReceived: Bool { get }

    /// Indicates whether bytes can be sent: a handshake comes first.
    var isReady: Bool { get }

    /// Indicates whether the client broke the rules of the protocol above TCP and was told so (a TLS alert). Anything else that it sends
    /// brings nothing but its end.
    var hasRefused: Bool { get }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Sockets.Received

    /// Sends what a queue begins with; all that it says it sent will be sent.
    func send(_ queue: ByteQueue, atMost limit: Int) -> Sockets.Sent

    /// Sends what is left to send.
    func flush() -> Sockets.Sent

    /// Says goodbye where the protocol above TCP has a way to; the FIN is not its matter.
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
