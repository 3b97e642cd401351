#if os(Linux)
import TestSupport

extension RawServer {
    /// The beginning of a reply to a request.
    enum Head: Sendable {
        /// A 101 with the key that the request asks for.
        case upgrade
        /// These bytes, or none.
        case bytes([UInt8])

        static func text(_ text: String) -> Head { .bytes(Array(text.utf8)) }
    }

    /// The way in which a server goes on after its reply. It goes on reading in any case but the last.
    enum Ending: Sendable {
        /// It says nothing more, until the client is gone.
        case silence
        /// It says that nothing more comes (FIN).
        case finish
        /// It resets the connection once the reply has arrived.
        case reset
    }

    /// A server that reads each client's request and answers all of them alike.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - cut: The places at which head and data are cut into pieces; behind TLS, into records.
    ///   - received: Gets what each client sent after its request, when it is gone.
    static func replying(
        _ head: Head = .upgrade, followedBy data: [UInt8] = [], cut: Cut = .nowhere, then ending: Ending = .silence,
        on address: Loopback = .ipv4, tls: ServerTLS? = nil, received: Record<[UInt8]>? = nil
    ) throws -> RawServer {
        try RawServer(on: address, tls: tls) { connection in
            let request = try connection.readRequest()
            let first =
                switch head {
                case .upgrade: RawConnection.upgradeHead(for: request)
                case .bytes(let bytes): bytes
                }
            try connection.send(first + data, cut: cut)
            switch ending {
            case .silence: break
            case .finish: connection.finish()
            case .reset:
                connection.resetOnceArrived()
                return
            }
            received?.append(connection.readRest())
        }
    }
}
#endif
