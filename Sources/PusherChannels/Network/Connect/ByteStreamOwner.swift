#if os(Linux)

/// Hears what happens to a ``ByteStream``; may do anything with it from within the call.
protocol ByteStreamOwner: AnyObject {
    /// The peer accepted the connection.
    func streamConnected()

    /// TLS is agreed on, and the peer is who it should be.
    func streamSecured()

    /// Bytes came, some time after `time`: what had come by then was read before. They are valid during the call only.
    func streamReceived(_ bytes: UnsafeRawBufferPointer, since time: Instant)

    /// There may be room for what wasn't taken.
    func streamWritable()

    /// Nothing more comes; the stream is closed.
    func streamEnded(_ end: StreamEnd)
}

extension ByteStreamOwner {
    // Of no matter to who takes over a stream that is connected.
    func streamConnected() {}
    func streamSecured() {}
}

/// The end of a stream.
enum StreamEnd {
    /// The peer said that it has sent its last.
    case finished
    /// The stream ended without TLS's close_notify: somebody between may have cut it off.
    case cutOff
    /// A system call failed.
    case broken(SystemError)
    /// TLS failed.
    case untrusted(TLSDiagnosis)

    /// The reason for a person, to be put behind a text; empty for the ordinary end.
    var explanation: String {
        switch self {
        case .finished, .cutOff: ""
        case .broken(let error): ": \(error.text)"
        case .untrusted(let diagnosis): ": \(diagnosis.reason)"
        }
    }
}
#endif
