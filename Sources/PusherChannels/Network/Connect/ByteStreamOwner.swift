#if os(Linux)

/// Receives the events of a ``ByteStream``. It may do anything with the stream from within these calls.
protocol ByteStreamOwner: AnyObject {
    /// The peer accepted the connection.
    func streamConnected()

    /// The TLS handshake succeeded, and the peer is who it should be.
    func streamSecured()

    /// Bytes arrived after `time`; everything that had come by then was read before. They are valid only during the call.
    func streamReceived(_ bytes: UnsafeRawBufferPointer, since time: Instant)

    /// There may be room for bytes that weren't accepted before.
    func streamWritable()

    /// Nothing more will arrive; the stream is closed.
    func streamEnded(_ end: StreamEnd)
}

extension ByteStreamOwner {
    // Owners that take over a connected stream don't need these.
    func streamConnected() {}
    func streamSecured() {}
}

/// The end of a stream.
enum StreamEnd {
    /// The peer announced the end of its data.
    case finished
    /// The stream ended without TLS's close_notify: something in between may have cut it off.
    case cutOff
    /// A system call failed.
    case broken(SystemError)
    /// TLS failed.
    case untrusted(TLSDiagnosis)

    /// The reason in words, to append to a text; empty for an ordinary end.
    var explanation: String {
        switch self {
        case .finished, .cutOff: ""
        case .broken(let error): ": \(error.text)"
        case .untrusted(let diagnosis): ": \(diagnosis.reason)"
        }
    }
}
#endif
