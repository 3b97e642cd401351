#if canImport(CLibwebsockets)

/// Bytes to and from one peer, over TCP and perhaps TLS. Confined to the thread of its loop.
///
/// What happens to it reaches its owner, which may do anything with it from within the call.
protocol ByteStream: AnyObject {
    /// Who hears of it.
    var owner: (any ByteStreamOwner)? { get set }

    /// Has what follows go through TLS with a host; ends in `streamSecured` or `streamEnded`.
    func startTLS(_ context: TLSContext, host: String)

    /// Writes; how many bytes were taken. The owner hears when there may be room for the rest.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int

    /// Stops or resumes reading. Writing goes on.
    func setReading(_ reading: Bool)

    /// Lets the peer close, which has nothing more to say, and closes if it takes long; the owner hears nothing more.
    func leave()

    /// Closes at once; the owner hears nothing more.
    func cut()
}

/// Hears what happens to a ``ByteStream``.
protocol ByteStreamOwner: AnyObject {
    /// The peer accepted the connection.
    func streamConnected()

    /// TLS is agreed on, and the peer is who it should be.
    func streamSecured()

    /// What comes from here on may have lain unread so long; zero: it is read as it comes.
    func streamLate(by time: Duration)

    /// Bytes came; they are valid during the call only.
    func streamReceived(_ bytes: UnsafeRawBufferPointer)

    /// There may be room for what wasn't taken.
    func streamWritable()

    /// Nothing more comes; the stream is closed.
    func streamEnded(_ end: StreamEnd)
}

extension ByteStreamOwner {
    /// Of no matter before there is a connection.
    func streamLate(by time: Duration) {}
}

/// How a stream came to its end.
enum StreamEnd {
    /// The peer said that it has sent its last.
    case finished
    /// The stream ended, but TLS has a goodbye for that, which didn't come: somebody between may have cut it off.
    case cutOff
    /// A system call failed.
    case broken(SystemError)
    /// TLS failed.
    case untrusted(TLSDiagnosis)

    /// What there is to say of it; nil for the ordinary end.
    var reason: String? {
        switch self {
        case .finished, .cutOff: nil
        case .broken(let error): error.text
        case .untrusted(let trouble): trouble.reason
        }
    }
}
#endif
